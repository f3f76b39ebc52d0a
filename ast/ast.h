/* The tree the parser builds: what was written, nothing resolved. Every node has a span. Lists are arrays in A_UNIT.
 * Names are Str. sema reads it and never changes it. */
#ifndef AST_AST_H
#define AST_AST_H
#include <stdbool.h>
#include <stdint.h>
#include "base/out.h"
#include "base/src.h"
#include "base/vec.h"

typedef struct Expr Expr;
typedef struct Stmt Stmt;
typedef struct Block Block;
typedef struct Item Item;
typedef VEC(Expr *) ExprVec;
typedef VEC(Stmt *) StmtVec;
typedef VEC(Item *) ItemVec;

typedef struct Name { Str s; Span span; } Name;

/* No path from a file's root to a leaf is longer: whoever walks the tree may recurse. What would be deeper is reported
 * once (D_NESTING) and left out as an error node. */
enum { AST_MAX_DEPTH = 1000 };

/* ---- expressions; types, template arguments and patterns are expressions too ---- */
typedef enum ExprKind {
	EX_ERROR,       /* what recovery skipped; poisoned, reported already */
	EX_NAME,        /* name */
	EX_INT,         /* lit: value and suffix */
	EX_FLOAT,       /* lit */
	EX_STRING,      /* str: decoded text */
	EX_UNDER,       /* `_` */
	EX_ALL,         /* `:` inside an index */
	EX_LIST,        /* list: [a, b]; shape, axes, indices or tile literal, by the operation that takes it */
	EX_SET,         /* list: {a, b}, a whole <...> argument only */
	EX_TUPLE,       /* list: (a, b); one element: a parenthesised expression is the expression itself */
	EX_UNARY,       /* un */
	EX_BINARY,      /* bin */
	EX_COND,        /* cond: c ? a : b */
	EX_CALL,        /* call: callee(args) */
	EX_MEMBER,      /* mem: base.name */
	EX_INDEX,       /* idx: base[items] */
	EX_TYPE,        /* type: tile<..> ptr<..> tensor<..> name<..>; `name` alone is EX_NAME, type_of(e) is EX_CALL */
	EX_LAMBDA,      /* lam */
	EX_UNSAFE,      /* un.x: unsafe e */
	EX_ALT,         /* list: f16 | bf16, a class in a generic parameter (never inside other expressions) */
	EX_DIM          /* dim: n: i64, in a tensor's shape */
} ExprKind;

typedef enum UnOp { UN_NEG, UN_PLUS, UN_NOT, UN_BITNOT } UnOp;
typedef enum BinOp {            /* order: as in binop_text; the compound assignments use the same */
	BIN_NONE, BIN_ADD, BIN_SUB, BIN_MUL, BIN_DIV, BIN_MOD, BIN_MATMUL, BIN_AND, BIN_OR, BIN_XOR, BIN_SHL, BIN_SHR,
	BIN_EQ, BIN_NE, BIN_LT, BIN_LE, BIN_GT, BIN_GE, BIN_ANDAND, BIN_OROR
} BinOp;
const char *binop_text(BinOp op);      /* "+" */
const char *unop_text(UnOp op);

/* Exact literal: integers up to 2^64-1 (larger: the lexer reports); floats as written, so
 * that each type rounds once. */
typedef struct Literal {
	uint64_t i;             /* EX_INT */
	Str text;               /* digits without separators and suffix: "1e-5", "0x1.8p3" (EX_FLOAT), "255" */
	Str suffix;             /* element type name or NULL */
} Literal;

typedef struct Arg { Name name; Expr *value; } Arg;      /* name.s NULL: positional */
typedef VEC(Arg) ArgVec;

struct Expr {
	ExprKind kind;
	Span span;
	uint32_t depth;         /* longest path below, itself included */
	union {
		Str name;
		Literal lit;
		struct { Str s; size_t len; } str;
		ExprVec list;
		struct { UnOp op; Expr *x; } un;
		struct { BinOp op; Span at; Expr *l, *r; } bin;         /* at: the operator itself */
		struct { Expr *c, *a, *b; } cond;
		struct { Expr *callee; ArgVec args; } call;
		struct { Expr *base; Name name; } mem;
		struct { Expr *base; ExprVec items; } idx;
		struct { Name name; ArgVec args; } type;                /* named arguments: k<BM: 64> */
		/* params: EX_NAME, EX_UNDER, EX_TUPLE patterns; body or block */
		struct { ExprVec params; Expr *body; Block *block; } lam;
		struct { Name name; Expr *type; } dim;
	} u;
};

/* ---- statements ---- */
typedef struct Attr { Name name; ArgVec args; Span span; } Attr;     /* @warps(8, sm_90: 4) */
typedef VEC(Attr) AttrVec;

typedef enum StmtKind {
	ST_ERROR,
	ST_LET,         /* decls */
	ST_VAR,         /* decls */
	ST_EXPR,        /* e: a call (assert, print, store ...) */
	ST_ASSIGN,      /* assign: lhs = rhs, lhs op= rhs, (a, b) = rhs */
	ST_FOR,         /* loop: name, lo, hi, step, body; is_const */
	ST_WHILE,       /* loop: cond in lo, body */
	ST_IF,          /* ifs; is_const */
	ST_BREAK, ST_CONTINUE,
	ST_RETURN,      /* e or NULL */
	ST_SCRATCH,     /* decls with one entry: pat is the name, type the tensor type, init NULL */
	ST_UNSAFE,      /* block */
	ST_BLOCK,       /* block */
	ST_CONST        /* item: a constant inside a function */
} StmtKind;

/* pat: EX_NAME, EX_UNDER or EX_TUPLE of those; type may be NULL */
typedef struct Decl { Expr *pat; Expr *type; Expr *init; } Decl;
typedef VEC(Decl) DeclVec;

struct Block { Span span; uint32_t depth; StmtVec stmts; };

struct Stmt {
	StmtKind kind;
	Span span;
	uint32_t depth;
	Str doc;                /* text of its `///` lines, or NULL */
	AttrVec attrs;
	bool is_const;          /* if const, for const */
	union {
		DeclVec decls;
		Expr *e;
		struct { Expr *lhs; BinOp op; Span at; Expr *rhs; } assign;
		struct { Name name; Expr *lo, *hi, *step; Block *body; } loop;
		struct { Expr *cond; Block *then; Stmt *other; } ifs;       /* other: ST_IF, ST_BLOCK or NULL */
		Block *block;
		Item *item;
	} u;
};

/* ---- items ---- */
typedef enum ItemKind {
	IT_ERROR, IT_IMPORT, IT_PARAM, IT_CONST, IT_INSTANCE, IT_TUNE, IT_KERNEL, IT_ENTRY, IT_FN
} ItemKind;
typedef enum Mode { MODE_NONE, MODE_IN, MODE_OUT, MODE_INOUT } Mode;     /* NONE: not written; means in */

typedef struct Generic { Name name; Expr *class_; Expr *dflt; Str doc; } Generic;    /* class_, dflt may be NULL */
typedef VEC(Generic) GenericVec;
typedef struct Param { Name name; Mode mode; Expr *type; Expr *dflt; Str doc; Span span; } Param;
typedef VEC(Param) ParamVec;

typedef struct FnItem {
	GenericVec generics;
	ParamVec params;
	ExprVec dims;                   /* dims [m, n, k]; empty: not written */
	ExprVec grid;                   /* KERNEL */
	Expr *result;                   /* FN: type, EX_TUPLE of types, or NULL */
	ExprVec where;
	Block *body;
} FnItem;

struct Item {
	ItemKind kind;
	Span span;
	Str doc;
	AttrVec attrs;
	Name name;              /* IMPORT: the `as` name or s = NULL */
	union {
		struct { Str path; Span at; } import;
		struct { Expr *type, *value; } constant;                /* PARAM, CONST */
		struct {  /* INSTANCE, TUNE: name = module.target<args> where .. */
			Name module, target;                            /* module.s NULL: not written */
			ArgVec args;
			ExprVec where;
		} inst;
		FnItem fn;                                              /* KERNEL, ENTRY, FN */
	} u;
};

typedef struct Ast { Src *src; ItemVec items; } Ast;      /* one file; imports are parsed by sema's loader */

/* Constructors used by the grammar: each makes one node in A_UNIT. */
Expr *ex_new(ExprKind kind, Span span);
Expr *ex_name(Name n);
Expr *ex_int(Span span, Literal lit);           /* lit.text NULL: reported already, an error node */
Expr *ex_float(Span span, Literal lit);
Expr *ex_string(Span span, Str s);
Expr *ex_list(ExprKind kind, Span span, ExprVec list);
Expr *ex_paren(Span span, ExprVec list);  /* one: that expression, with the span of its parentheses; else a tuple */
Expr *ex_unary(UnOp op, Span span, Expr *x);
Expr *ex_unsafe(Span span, Expr *x);
Expr *ex_binary(BinOp op, Span at, Expr *l, Expr *r);
Expr *ex_cond(Expr *c, Expr *a, Expr *b);
Expr *ex_call(Span span, Expr *callee, ArgVec args);
Expr *ex_member(Expr *base, Name name);
Expr *ex_index(Span span, Expr *base, ExprVec items);
Expr *ex_type(Span span, Name name, ArgVec args);
Expr *ex_tensor(Span span, Name name, Expr *elem, Expr *shape, Arg layout);    /* layout.value NULL: not written */
Expr *ex_dim(Span span, Name name, Expr *type);
Expr *ex_lambda(Span span, ExprVec params, Expr *body, Block *block);

Stmt *st_new(StmtKind kind, Span span);
Stmt *st_expr(Span span, Expr *e);
Stmt *st_assign(Span span, Expr *lhs, BinOp op, Span at, Expr *rhs);
Stmt *st_decls(StmtKind kind, Span span, DeclVec decls);
Stmt *st_for(Span span, bool is_const, Name name, Expr *lo, Expr *hi, Expr *step, Block *body);
Stmt *st_while(Span span, Expr *cond, Block *body);
Stmt *st_if(Span span, bool is_const, Expr *cond, Block *then, Stmt *other);
Stmt *st_return(Span span, Expr *e);
Stmt *st_scratch(Span span, Name name, Expr *type);
Stmt *st_block(StmtKind kind, Block *b);        /* ST_BLOCK, ST_UNSAFE */
Stmt *st_const(Item *it);
Stmt *st_deco(Stmt *s, Str doc, AttrVec attrs); /* puts them on s */
Block *ast_block(Span span, StmtVec stmts);

Item *it_new(ItemKind kind, Span span);
Item *it_import(Span span, Str path, Span at, Name as);
Item *it_constant(ItemKind kind, Span span, Name name, Expr *type, Expr *value);
Item *it_instance(ItemKind kind, Span span, Name name, Name module, Name target);
Item *it_inst_args(Item *it, Span span, ArgVec args, ExprVec where);
int param_index(const FnItem *f, Str name);     /* -1: no parameter has the name */
const char *mode_word(Mode m);                  /* in, out, inout */
Item *it_fn(ItemKind kind, Span span, Name name, FnItem fn);
Item *it_deco(Item *it, Str doc, AttrVec attrs);
Param *ast_param(Span span, Str doc, Name name, Mode mode, Expr *type);
Generic *ast_generic(Str doc, Name name, Expr *class_, Expr *dflt);

/* Printer: source text that parses to the same tree. */
void ast_print(Out *o, const Ast *a);
void ast_print_expr(Out *o, const Expr *e);
/* Calls f for each name that is used (not declared); assigned: it is the target of an assignment. */
typedef struct NameVisit { void (*f)(void *ctx, Str name, bool assigned); void *ctx; } NameVisit;
void ast_names_item(const Item *it, const NameVisit *v);
void ast_names_block(const Block *b, const NameVisit *v);
void ast_names_stmt(const Stmt *s, const NameVisit *v);
/* Calls f for each name that an extent or a stride in a type is computed from: operands of
 * operators and arguments of calls. */
void ast_length_names(const Expr *e, void (*f)(void *ctx, Name n), void *ctx);

bool ast_equal(const Ast *a, const Ast *b);       /* same trees, places aside */
#endif
