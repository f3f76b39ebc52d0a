/* The language. LALR(1) without conflicts and without help from the lexer; the %token lines are the one list of tokens.
 * An action makes a node and nothing else; what names and shapes mean is for the checker. */
%require "3.8"
%expect 0
%define api.pure full
%define api.prefix {tile_yy}
%define api.token.prefix {TOK_}
%define api.location.type {Span}
%define lr.type lalr
%define parse.error custom
%define parse.lac full
%locations
%param {Gram *g}
%initial-action { @$ = (Span){ 0, 0 }; }

%code requires {
#include "grammar/gram.h"
}

%union {
	Name name;
	Literal lit;
	Str str;
	Expr *expr;
	ExprVec exprs;
	Arg arg;
	ArgVec args;
	Decl decl;
	DeclVec decls;
	Stmt *stmt;
	StmtVec stmts;
	Block *block;
	Attr attr;
	AttrVec attrs;
	Item *item;
	Generic *generic;
	GenericVec generics;
	Param *param;
	ParamVec params;
	Mode mode;
	BinOp op;
}

%code provides {
int tile_yylex(TILE_YYSTYPE *value, Span *at, Gram *g);
}

%code {
/* The rule's text without the empty parts at its ends; a doc comment counts as empty. */
static Span rule_span(const Span *at, int n)
{
	int a = 1, b = n;
	while (a < b && at[a].lo == at[a].hi) a++;
	while (a < b && at[b].lo == at[b].hi) b--;
	return n ? (Span){ at[a].lo, at[b].hi } : (Span){ at[0].hi, at[0].hi };
}
#define YYLLOC_DEFAULT(now, rhs, n) ((now) = rule_span_of(rhs, n))
#define rule_span_of(rhs, n) rule_span(&YYRHSLOC(rhs, 0), (int)(n))

/* The stacks come from an arena: deep input fails by YYMAXDEPTH with a message, and nothing is freed by hand. */
#define YYMAXDEPTH 20000
#define YYSTACK_ALLOC(n) arena_alloc(A_UNIT, (size_t)(n))

#define APPEND(out, list, x) ((out) = (list), vec_push(A_UNIT, &(out), (x)))
static void tile_yyerror(const Span *at, Gram *g, const char *text);
}

/* Words of the language. */
%token
	END 0           "end of file"
	TILE            "tile"
	TENSOR          "tensor"
	PTR             "ptr"
	KERNEL          "kernel"
	FN              "fn"
	CONST           "const"
	LET             "let"
	VAR             "var"
	FOR             "for"
	WHILE           "while"
	IF              "if"
	ELSE            "else"
	UNSAFE          "unsafe"
	BREAK           "break"
	CONTINUE        "continue"
	RETURN          "return"
	IN              "in"

/* Words with a meaning in one place, names everywhere else: `name` below lists them all. */
%token <name>
	OUT             "out"
	INOUT           "inout"
	GRID            "grid"
	WHERE           "where"
	STEP            "step"
	INSTANCE        "instance"
	TUNE            "tune"
	IMPORT          "import"
	ENTRY           "entry"
	SCRATCH         "scratch"
	PARAM           "param"
	AS              "as"
	DIMS            "dims"

%token
	LPAREN          "("
	RPAREN          ")"
	LBRACK          "["
	RBRACK          "]"
	LBRACE          "{"
	RBRACE          "}"
	COMMA           ","
	SEMI            ";"
	COLON           ":"
	DOT             "."
	DOTDOT          ".."
	ARROW           "->"
	QUESTION        "?"
	UNDER           "_"
	PLUS            "+"
	MINUS           "-"
	STAR            "*"
	SLASH           "/"
	PERCENT         "%"
	AT              "@"
	AMP             "&"
	BAR             "|"
	CARET           "^"
	TILDE           "~"
	BANG            "!"
	ANDAND          "&&"
	OROR            "||"
	EQ              "=="
	NE              "!="
	LT              "<"
	LE              "<="
	SHL             "<<"
	ASSIGN          "="
	PLUS_ASSIGN     "+="
	MINUS_ASSIGN    "-="
	STAR_ASSIGN     "*="
	SLASH_ASSIGN    "/="
	PERCENT_ASSIGN  "%="
	AT_ASSIGN       "@="
	AMP_ASSIGN      "&="
	BAR_ASSIGN      "|="
	CARET_ASSIGN    "^="
	SHL_ASSIGN      "<<="

/* `>` is always one character; its kind tells what follows it in the text without a blank. */
%token
	GT              ">"
	GT_GT           "> then >"
	GT_EQ           "> then ="
	GT_GE           "> then >="

%token <name>           IDENT   "a name"
%token <lit>            INT     "an integer"
%token <lit>            FLOAT   "a float literal"
%token <str>            STRING  "a string"
%token <str>            DOC     "a doc comment"
%token                  SYNC    "a place to go on"      BODY "a body to go on with"

/* How operators bind, the loosest first. */
%left     "||"
%left     "&&"
%nonassoc "==" "!=" "<" "<=" ">" "> then ="
%left     "|"
%left     "^"
%left     "&"
%left     "<<" "> then >"
%left     "+" "-"
%left     "*" "/" "%" "@"

%type <name> name opt_as
%type <str> doc
%type <expr> type rtype opt_rtype basic_type shape dim targ class result pat cond_expr
%type <expr> expr ternary binary sum unary postfix primary lhs ix
%type <exprs> types dims dims1 dims_order grid wheres wheres1 conds alts exprs exprs1 pats pats0 index
%type <arg> arg named_targ
%type <args> targs targs0 args args1 attr_args
%type <decl> decl
%type <decls> decls
%type <stmt> stmt plain ifstmt
%type <stmts> stmts
%type <block> block
%type <attr> attr
%type <attrs> attrs
%type <item> item constdef instdef instance
%type <generic> generic
%type <generics> generics generics0
%type <param> param param_head
%type <params> params params1
%type <mode> mode
%type <op> assign cmpop addop mulop

%%

/* ---- items ---- */

file
	: items
	;
items
	: %empty
	| items item                            { gram_item(g, $2); }
	;
item
	: doc "import" "a string" opt_as ";"    { $$ = it_deco(it_import(@$, $3, @3, $4), $1, (AttrVec){ 0 }); }
	| doc "param" name opt_rtype "=" expr ";"
		{ $$ = it_deco(it_constant(IT_PARAM, @$, $3, $4, $6), $1, (AttrVec){ 0 }); }
	| doc constdef                          { $$ = it_deco($2, $1, (AttrVec){ 0 }); }
	| doc instdef                           { $$ = it_deco($2, $1, (AttrVec){ 0 }); }
	| doc attrs "kernel" name generics0 "(" params ")" dims_order grid wheres block
		{ FnItem fn = { .generics = $5, .params = $7, .dims = $9, .grid = $10, .where = $11, .body = $12 };
		  $$ = it_deco(it_fn(IT_KERNEL, @$, $4, fn), $1, $2); }
	| doc attrs "entry" name "(" params ")" dims_order wheres block
		{ FnItem fn = { .params = $6, .dims = $8, .where = $9, .body = $10 };
		  $$ = it_deco(it_fn(IT_ENTRY, @$, $4, fn), $1, $2); }
	| doc attrs "fn" name generics0 "(" params ")" result wheres block
		{ FnItem fn = { .generics = $5, .params = $7, .result = $9, .where = $10, .body = $11 };
		  $$ = it_deco(it_fn(IT_FN, @$, $4, fn), $1, $2); }
	| ";"                                   { slip_semicolon(g, @1); $$ = NULL; }
	| error "a place to go on"              { $$ = it_new(IT_ERROR, @$); yyerrok; }
	| headless block                        { $$ = it_new(IT_ERROR, @$); }
	;
headless        /* a rule of its own, so that errors in the body count again */
	: error "a body to go on with"          { yyerrok; }
	;
doc
	: %empty                                { $$ = NULL; }
	| "a doc comment"                       { $$ = $1; @$ = (Span){ @1.hi, @1.hi }; }
	;
attrs
	: %empty                                { $$ = (AttrVec){ 0 }; }
	| attrs attr                            { APPEND($$, $1, $2); }
	;
attr
	: "@" name attr_args                    { $$ = (Attr){ $2, $3, @$ }; }
	;
attr_args
	: %empty                                { $$ = (ArgVec){ 0 }; }
	| "(" args ")"                          { $$ = $2; }
	;
name
	: "a name" | "out" | "inout" | "grid" | "where" | "step" | "instance" | "tune" | "import" | "entry" | "scratch"
	| "param" | "as" | "dims"
	;
opt_as
	: %empty                                { $$ = (Name){ 0 }; }
	| "as" name                             { $$ = $2; }
	;
constdef
	: "const" name opt_rtype "=" expr ";"   { $$ = it_constant(IT_CONST, @$, $2, $3, $5); }
	;
instdef
	: instance targs0 wheres ";"            { $$ = it_inst_args($1, @$, $2, $3); }
	;
instance
	: "instance" name "=" name              { $$ = it_instance(IT_INSTANCE, @$, $2, (Name){ 0 }, $4); }
	| "instance" name "=" name "." name     { $$ = it_instance(IT_INSTANCE, @$, $2, $4, $6); }
	| "tune" name "=" name                  { $$ = it_instance(IT_TUNE, @$, $2, (Name){ 0 }, $4); }
	| "tune" name "=" name "." name         { $$ = it_instance(IT_TUNE, @$, $2, $4, $6); }
	;
dims_order
	: %empty                                { $$ = (ExprVec){ 0 }; }
	| "dims" "[" exprs1 comma "]"           { $$ = $3; }
	;
grid
	: %empty                                { $$ = slip_no_grid(g); }
	| "grid" "[" exprs1 comma "]"           { $$ = $3; }
	;
wheres
	: %empty                                { $$ = (ExprVec){ 0 }; }
	| wheres1
	;
wheres1
	: "where" conds                         { $$ = $2; }
	| wheres1 "where" cond_expr             { APPEND($$, $1, $3); }
	| wheres1 "," cond_expr                 { APPEND($$, $1, $3); }
	;
conds
	: cond_expr                             { APPEND($$, (ExprVec){ 0 }, $1); }
	;
result
	: %empty                                { $$ = NULL; }
	| "->" rtype                            { $$ = $2; }
	| ":" rtype                             { $$ = slip_result(g, @1, $2); }
	;

generics0
	: %empty                                { $$ = (GenericVec){ 0 }; }
	| "<" generics comma close              { $$ = $2; }
	;
generics
	: generic                               { APPEND($$, (GenericVec){ 0 }, *$1); }
	| generics "," generic                  { APPEND($$, $1, *$3); }
	;
generic
	: doc name                              { $$ = ast_generic($1, $2, NULL, NULL); }
	| doc name ":" class                    { $$ = ast_generic($1, $2, $4, NULL); }
	| doc name "=" targ                     { $$ = ast_generic($1, $2, NULL, $4); }
	| doc name ":" class "=" targ           { $$ = ast_generic($1, $2, $4, $6); }
	;
class
	: type
	| alts                                  { $$ = ex_list(EX_ALT, @$, $1); }
	;
alts
	: type "|" type                         { APPEND($$, (ExprVec){ 0 }, $1); vec_push(A_UNIT, &$$, $3); }
	| alts "|" type                         { APPEND($$, $1, $3); }
	;

params
	: %empty                                { $$ = (ParamVec){ 0 }; }
	| params1 comma
	;
params1
	: param                                 { APPEND($$, (ParamVec){ 0 }, *$1); }
	| params1 "," param                     { APPEND($$, $1, *$3); }
	;
param
	: param_head
	| param_head "=" expr                   { $$ = $1; $$->dflt = $3; $$->span = @$; }
	;
param_head
	: doc name ":" type                     { $$ = ast_param(@$, $1, $2, MODE_NONE, $4); }
	| doc name ":" mode type                { $$ = ast_param(@$, $1, $2, $4, $5); }
	;
mode    /* written out, because `out` is also a name */
	: "in"                                  { $$ = MODE_IN; }
	| "out"                                 { $$ = MODE_OUT; }
	| "inout"                               { $$ = MODE_INOUT; }
	;

/* ---- types. In a type's place any name may take <...>; in an expression only the three reserved words may. ---- */

type
	: basic_type
	| name                                  { $$ = ex_name($1); }
	| name "<" targs close                  { $$ = ex_type(@$, $1, $3); }
	| name "(" args ")"                     { $$ = ex_call(@$, ex_name($1), $3); }
	;
rtype
	: type
	| "(" types comma ")"                   { $$ = ex_paren(@$, $2); }
	;
opt_rtype
	: %empty                                { $$ = NULL; }
	| ":" rtype                             { $$ = $2; }
	;
types
	: rtype                                 { APPEND($$, (ExprVec){ 0 }, $1); }
	| types "," rtype                       { APPEND($$, $1, $3); }
	;
basic_type
	: "tile" "<" targs close                { $$ = ex_type(@$, (Name){ str_intern("tile"), @1 }, $3); }
	| "ptr" "<" targs close                 { $$ = ex_type(@$, (Name){ str_intern("ptr"), @1 }, $3); }
	| "tensor" "<" targ "," shape close
		{ $$ = ex_tensor(@$, (Name){ str_intern("tensor"), @1 }, $3, $5, (Arg){ 0 }); }
	| "tensor" "<" targ "," shape "," named_targ close
		{ $$ = ex_tensor(@$, (Name){ str_intern("tensor"), @1 }, $3, $5, $7); }
	;
shape
	: "[" dims "]"                          { $$ = ex_list(EX_LIST, @$, $2); }
	| name                                  { $$ = ex_name($1); }
	;
dims
	: %empty                                { $$ = (ExprVec){ 0 }; }
	| dims1 comma
	;
dims1
	: dim                                   { APPEND($$, (ExprVec){ 0 }, $1); }
	| dims1 "," dim                         { APPEND($$, $1, $3); }
	;
dim
	: expr
	| name ":" type                         { $$ = ex_dim(@$, $1, $3); }
	;
targs0
	: %empty                                { $$ = (ArgVec){ 0 }; }
	| "<" targs close                       { $$ = $2; }
	;
targs
	: named_targ                            { APPEND($$, (ArgVec){ 0 }, $1); }
	| targs "," named_targ                  { APPEND($$, $1, $3); }
	;
named_targ
	: targ                                  { $$ = (Arg){ { 0 }, $1 }; }
	| name ":" targ                         { $$ = (Arg){ $1, $3 }; }
	;
targ
	: sum
	| name "<" targs close                  { $$ = ex_type(@$, $1, $3); }
	| "{" exprs1 comma "}"                  { $$ = ex_list(EX_SET, @$, $2); }
	;
close
	: ">" | "> then >" | "> then =" | "> then >="
	;
comma
	: %empty
	| ","
	;

/* ---- statements ---- */

block
	: "{" stmts "}"                         { $$ = ast_block(@$, $2); }
	;
stmts
	: %empty                                { $$ = (StmtVec){ 0 }; }
	| stmts stmt                            { APPEND($$, $1, $2); }
	| stmts ";"                             { slip_semicolon(g, @2); $$ = $1; }
	;
stmt
	: doc attrs plain                       { $$ = st_deco($3, $1, $2); }
	| doc "(" exprs1 comma ")" "=" expr ";" /* takes no attribute: @name (a, b) = .. would be two things */
		{ Expr *l = ex_paren((Span){ @2.lo, @5.hi }, $3);
		  $$ = st_deco(st_assign((Span){ @2.lo, @8.hi }, l, BIN_NONE, @6, $7), $1, (AttrVec){ 0 }); }
	| error "a place to go on"              { $$ = st_new(ST_ERROR, @$); yyerrok; }
	;
plain
	: "let" decls ";"                       { $$ = st_decls(ST_LET, @$, $2); }
	| "var" decls ";"                       { $$ = st_decls(ST_VAR, @$, $2); }
	| lhs ";"                               { $$ = st_expr(@$, $1); }
	| "unsafe" lhs ";"                      { $$ = st_expr(@$, ex_unsafe(span_join(@1, @2), $2)); }
	| lhs assign expr ";"                   { $$ = st_assign(@$, $1, $2, @2, $3); }
	| "for" name "in" expr ".." expr block  { $$ = st_for(@$, false, $2, $4, $6, NULL, $7); }
	| "for" name "in" expr ".." expr "step" expr block
		{ $$ = st_for(@$, false, $2, $4, $6, $8, $9); }
	| "for" "const" name "in" expr ".." expr block
		{ $$ = st_for(@$, true, $3, $5, $7, NULL, $8); }
	| "for" "const" name "in" expr ".." expr "step" expr block
		{ $$ = st_for(@$, true, $3, $5, $7, $9, $10); }
	| "for" name "in" expr block            { $$ = st_for(@$, false, $2, slip_range(g, $4), $4, NULL, $5); }
	| "while" cond_expr block               { $$ = st_while(@$, $2, $3); }
	| ifstmt
	| "break" ";"                           { $$ = st_new(ST_BREAK, @$); }
	| "continue" ";"                        { $$ = st_new(ST_CONTINUE, @$); }
	| "return" ";"                          { $$ = st_return(@$, NULL); }
	| "return" expr ";"                     { $$ = st_return(@$, $2); }
	| "scratch" name ":" type ";"           { $$ = st_scratch(@$, $2, $4); }
	| "unsafe" block                        { $$ = st_block(ST_UNSAFE, $2); }
	| block                                 { $$ = st_block(ST_BLOCK, $1); }
	| constdef                              { $$ = st_const($1); }
	;
ifstmt
	: "if" cond_expr block                  { $$ = st_if(@$, false, $2, $3, NULL); }
	| "if" cond_expr block "else" block     { $$ = st_if(@$, false, $2, $3, st_block(ST_BLOCK, $5)); }
	| "if" cond_expr block "else" ifstmt    { $$ = st_if(@$, false, $2, $3, $5); }
	| "if" "const" cond_expr block          { $$ = st_if(@$, true, $3, $4, NULL); }
	| "if" "const" cond_expr block "else" block
		{ $$ = st_if(@$, true, $3, $4, st_block(ST_BLOCK, $6)); }
	| "if" "const" cond_expr block "else" ifstmt
		{ $$ = st_if(@$, true, $3, $4, $6); }
	;
decls
	: decl                                  { APPEND($$, (DeclVec){ 0 }, $1); }
	| decls "," decl                        { APPEND($$, $1, $3); }
	;
decl
	: pat opt_rtype "=" expr                { $$ = (Decl){ $1, $2, $4 }; }
	| pat opt_rtype                         { $$ = (Decl){ $1, $2, slip_no_value(g, $1) }; }
	;
pat
	: name                                  { $$ = ex_name($1); }
	| "_"                                   { $$ = ex_new(EX_UNDER, @1); }
	| "(" pats comma ")"                    { $$ = ex_paren(@$, $2); }
	;
pats
	: pat                                   { APPEND($$, (ExprVec){ 0 }, $1); }
	| pats "," pat                          { APPEND($$, $1, $3); }
	;
pats0
	: %empty                                { $$ = (ExprVec){ 0 }; }
	| pats comma
	;
assign
	: "="                                   { $$ = BIN_NONE; }
	| "+="                                  { $$ = BIN_ADD; }
	| "-="                                  { $$ = BIN_SUB; }
	| "*="                                  { $$ = BIN_MUL; }
	| "/="                                  { $$ = BIN_DIV; }
	| "%="                                  { $$ = BIN_MOD; }
	| "@="                                  { $$ = BIN_MATMUL; }
	| "&="                                  { $$ = BIN_AND; }
	| "|="                                  { $$ = BIN_OR; }
	| "^="                                  { $$ = BIN_XOR; }
	| "<<="                                 { $$ = BIN_SHL; }
	| "> then >=" "> then =" "="            { $$ = BIN_SHR; }
	;
lhs
	: name                                  { $$ = ex_name($1); }
	| lhs "." name                          { $$ = ex_member($1, $3); }
	| lhs "[" index "]"                     { $$ = ex_index(@$, $1, $3); }
	| lhs "(" args ")"                      { $$ = ex_call(@$, $1, $3); }
	;

/* ---- expressions ---- */

args
	: %empty                                { $$ = (ArgVec){ 0 }; }
	| args1 comma
	;
args1
	: arg                                   { APPEND($$, (ArgVec){ 0 }, $1); }
	| args1 "," arg                         { APPEND($$, $1, $3); }
	;
arg
	: expr                                  { $$ = (Arg){ { 0 }, $1 }; }
	| name ":" expr                         { $$ = (Arg){ $1, $3 }; }
	| expr "=" expr                         { $$ = slip_argument(g, $1, @2, $3); }
	;
index
	: ix                                    { APPEND($$, (ExprVec){ 0 }, $1); }
	| index "," ix                          { APPEND($$, $1, $3); }
	;
ix
	: expr
	| ":"                                   { $$ = ex_new(EX_ALL, @1); }
	;
exprs
	: %empty                                { $$ = (ExprVec){ 0 }; }
	| exprs1 comma
	;
exprs1
	: expr                                  { APPEND($$, (ExprVec){ 0 }, $1); }
	| exprs1 "," expr                       { APPEND($$, $1, $3); }
	;
cond_expr
	: expr
	| expr "=" expr                         { $$ = slip_condition(g, $1, @2, $3); }
	;

expr
	: ternary
	| "fn" "(" pats0 ")" expr               { $$ = ex_lambda(@$, $3, $5, NULL); }
	| "fn" "(" pats0 ")" block              { $$ = ex_lambda(@$, $3, NULL, $5); }
	;
ternary
	: binary
	| binary "?" expr ":" ternary           { $$ = ex_cond($1, $3, $5); }
	;
binary
	: sum
	| binary "||" binary                    { $$ = ex_binary(BIN_OROR, @2, $1, $3); }
	| binary "&&" binary                    { $$ = ex_binary(BIN_ANDAND, @2, $1, $3); }
	| binary cmpop binary %prec "=="        { $$ = ex_binary($2, @2, $1, $3); }
	| binary "|" binary                     { $$ = ex_binary(BIN_OR, @2, $1, $3); }
	| binary "^" binary                     { $$ = ex_binary(BIN_XOR, @2, $1, $3); }
	| binary "&" binary                     { $$ = ex_binary(BIN_AND, @2, $1, $3); }
	| binary "<<" binary                    { $$ = ex_binary(BIN_SHL, @2, $1, $3); }
	| binary "> then >" ">" binary %prec "<<"
		{ $$ = ex_binary(BIN_SHR, span_join(@2, @3), $1, $4); }
	;
cmpop
	: "=="                                  { $$ = BIN_EQ; }
	| "!="                                  { $$ = BIN_NE; }
	| "<"                                   { $$ = BIN_LT; }
	| "<="                                  { $$ = BIN_LE; }
	| ">"                                   { $$ = BIN_GT; }
	| "> then =" "="                        { $$ = BIN_GE; }
	;
sum
	: unary
	| sum addop sum %prec "+"               { $$ = ex_binary($2, @2, $1, $3); }
	| sum mulop sum %prec "*"               { $$ = ex_binary($2, @2, $1, $3); }
	;
addop
	: "+"                                   { $$ = BIN_ADD; }
	| "-"                                   { $$ = BIN_SUB; }
	;
mulop
	: "*"                                   { $$ = BIN_MUL; }
	| "/"                                   { $$ = BIN_DIV; }
	| "%"                                   { $$ = BIN_MOD; }
	| "@"                                   { $$ = BIN_MATMUL; }
	;
unary
	: postfix
	| "unsafe" unary                        { $$ = ex_unsafe(@$, $2); }
	| "-" unary                             { $$ = ex_unary(UN_NEG, @$, $2); }
	| "+" unary                             { $$ = ex_unary(UN_PLUS, @$, $2); }
	| "!" unary                             { $$ = ex_unary(UN_NOT, @$, $2); }
	| "~" unary                             { $$ = ex_unary(UN_BITNOT, @$, $2); }
	;
postfix
	: primary
	| postfix "." name                      { $$ = ex_member($1, $3); }
	| postfix "[" index "]"                 { $$ = ex_index(@$, $1, $3); }
	| postfix "(" args ")"                  { $$ = ex_call(@$, $1, $3); }
	;
primary
	: name                                  { $$ = ex_name($1); }
	| basic_type
	| "an integer"                          { $$ = ex_int(@1, $1); }
	| "a float literal"                     { $$ = ex_float(@1, $1); }
	| "a string"                            { $$ = ex_string(@1, $1); }
	| "_"                                   { $$ = ex_new(EX_UNDER, @1); }
	| "[" exprs "]"                         { $$ = ex_list(EX_LIST, @$, $2); }
	| "(" exprs1 comma ")"                  { $$ = ex_paren(@$, $2); }
	| "(" expr "=" expr ")"                 { $$ = slip_condition(g, $2, @3, $4); }
	;

%%

static int yyreport_syntax_error(const yypcontext_t *ctx, Gram *g)
{
	yysymbol_kind_t kinds[YYNTOKENS];
	const char *texts[YYNTOKENS];
	int n = yypcontext_expected_tokens(ctx, kinds, YYNTOKENS);
	if (n < 0) return n;
	for (int i = 0; i < n; i++) texts[i] = yysymbol_name(kinds[i]);
	gram_error(g, texts, n);
	return 0;
}

/* With custom messages Bison calls this for a full stack only. */
static void tile_yyerror(const Span *at, Gram *g, const char *text)
{
	(void)at;
	(void)text;
	gram_overflow(g);
}
