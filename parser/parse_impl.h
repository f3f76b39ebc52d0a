/* Inside parser/ only: the state between the generated parser and the lexer. */
#ifndef PARSER_PARSE_IMPL_H
#define PARSER_PARSE_IMPL_H
#include "base/diag.h"
#include "lexer/lex.h"
#include "parser/parse.h"

enum { MAX_OPEN = 256, PREV = 4, QUEUE = MAX_OPEN + 4 };

/* An open bracket. A `{` after `<` `,` `:` or `=` is a set of values, any other a block. */
typedef struct Open { int kind; bool block, orphan, lambda, attr; Span span; } Open;

struct Gram {
	Lex lex;
	Ast *ast;
	Token last;                     /* handed to the parser, not yet shifted as far as we know */
	Token prev[PREV];               /* shifted before it, latest first */
	Token queue[QUEUE];             /* handed out before the lexer's */
	int nqueue, iqueue;
	Open open[MAX_OPEN];
	int nopen;
	uint32_t part_end;              /* place where a part of a file ends that is read alone, or 0 */
	bool broken;                    /* there was a syntax error */
	bool stopped;                   /* no more tokens, no more messages */
	bool closed_orphan;             /* the last `}` ended a block whose header was skipped: its `else` goes too */
	bool closed_header;             /* the last `)` ended a lambda's parameters or an attribute */
	bool begins;                    /* the token to be handed out is the first of a statement or item */
	bool plain;                     /* since the statement's start: names, members and indices only */
	int reserved;                   /* a reserved word that was used as a name, or 0 */
	Name kernel;                    /* the latest kernel's name */
	int first;                      /* kind of the first token of the current statement or item */
	Name first_name;                /* its name, if it is one */
	uint32_t stmt;                  /* place where the current statement or item began */
	uint32_t shape_end;             /* end of a `64 x 64` that was reported */
	Diag *assigned;  /* the message about `name = value` among the arguments of the call that opens at .. */
	uint32_t assigned_in;
	DiagMark before_assigned;       /* what was reported before it */
	Span suspect;                   /* a `{` whose `}` stands in another column */
};

/* places.c */
Span parse_span(uint32_t lo, uint32_t hi);
const char *parse_text(const Gram *g, Span s);          /* source text, shortened for messages */
const char *parse_source(const Gram *g, Span s);        /* source text, whole */
bool parse_first_on_line(const Gram *g, uint32_t at);
bool parse_line_between(const Gram *g, uint32_t lo, uint32_t hi);
uint32_t parse_indent(const Gram *g, uint32_t at);      /* blanks at the beginning of that line */
bool parse_adjacent(const Token *a, const Token *b);
void parse_push(Gram *g, int kind, Span at);            /* into the queue */

/* slip.c: mends rows of tokens that are never right. False: drop the token. */
bool slip_mend(Gram *g, Token *t);
/* advice.c: special messages; true: said. */
typedef struct Expected { const char *const *p; int n; } Expected;
bool expects(Expected e, const char *text);
bool advice_say(Gram *g, Expected e);

/* ahead.c: looking around the current token */
typedef struct Ahead { const Gram *g; Lex lex; Token t; } Ahead;
Ahead ahead_from(const Gram *g);                /* at the current token */
const Token *ahead_step(Ahead *a);
/* to the first token of that kind outside of brackets; false at a brace or the end */
bool ahead_to(Ahead *a, int stop);
const char *ahead_text(const Ahead *a, uint32_t lo);    /* from there to the token, without the blanks before it */
Span ahead_close(Ahead *a);                     /* from an opening bracket after the closing one; its place, or none */
uint32_t ahead_primary(Ahead *a);               /* over x, f(x).y[0]: where it ends; 0: none stands there */
bool ahead_assigned(const Gram *g, Str name);   /* is it assigned further down? */
/* the first generic parameter, and its class, of the function of that name in this file; NULL: there is none */
Str ahead_generic(const Gram *g, Str name, Str *class);
uint32_t parse_primary_start(const Gram *g, uint32_t end);      /* of x, f(x).y[0] that ends there */

/* habit.c: forms of other languages; true: said. The last two add a remedy to d. */
bool habit_statement(Gram *g, Expected e);
bool habit_declaration(Gram *g, Expected e);
bool habit_type(Gram *g, Expected e);           /* habit_type.c: in the place of a type */
bool habit_reference(const Gram *g);            /* the `&` begins a slice */
bool habit_const_parameter(Gram *g, Expected e);
bool habit_expression(Gram *g, Expected e);
bool habit_reserved(Gram *g, Expected e);       /* var(x, 0) */
bool habit_generics(Gram *g);                   /* f<f32>(x) */
bool habit_quotient(Gram *g, Diag *d);          /* x // 2; */
bool habit_quotient_inside(Gram *g, Expected e);        /* [n // 2] */
bool habit_power(Gram *g, Diag *d, Span op);    /* x ** 2 */
/* expect.c */
const char *expect_list(Expected e);
const char *expect_found(const Gram *g, const Token *t);
Diag *expect_say(Gram *g, Expected e);          /* the usual message: what the remedy belongs to */
bool expect_with(Gram *g, Expected e, const char *help);        /* the usual message, with that advice; true */
bool expect_write(Diag *d, Span at, const char *fix);            /* "write `fix`", an edit; true */
/* recover.c */
bool recover_item_word(const Gram *g, const Token *t, bool inside);
bool recover_missing_brace(const Gram *g, Expected e);  /* the current token begins a block that lacks its { */
void recover_skip(Gram *g, Expected e);
#endif
