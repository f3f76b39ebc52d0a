/* A Bison parser, made by GNU Bison 3.8.2.  */

/* Bison interface for Yacc-like parsers in C

   Copyright (C) 1984, 1989-1990, 2000-2015, 2018-2021 Free Software Foundation,
   Inc.

   This program is free software: you can redistribute it and/or modify
   it under the terms of the GNU General Public License as published by
   the Free Software Foundation, either version 3 of the License, or
   (at your option) any later version.

   This program is distributed in the hope that it will be useful,
   but WITHOUT ANY WARRANTY; without even the implied warranty of
   MERCHANTABILITY or FITNESS FOR A PARTICULAR PURPOSE.  See the
   GNU General Public License for more details.

   You should have received a copy of the GNU General Public License
   along with this program.  If not, see <https://www.gnu.org/licenses/>.  */

/* As a special exception, you may create a larger work that contains
   part or all of the Bison parser skeleton and distribute that work
   under terms of your choice, so long as that work isn't itself a
   parser generator using the skeleton or a modified version thereof
   as a parser skeleton.  Alternatively, if you modify or redistribute
   the parser skeleton itself, you may (at your option) remove this
   special exception, which will cause the skeleton and the resulting
   Bison output files to be licensed under the GNU General Public
   License without this special exception.

   This special exception was added by the Free Software Foundation in
   version 2.2 of Bison.  */

/* DO NOT RELY ON FEATURES THAT ARE NOT DOCUMENTED in the manual,
   especially those whose name start with YY_ or yy_.  They are
   private implementation details that can be changed or removed.  */

#ifndef YY_TILE_YY_BOOTSTRAP_TILE_TAB_H_INCLUDED
# define YY_TILE_YY_BOOTSTRAP_TILE_TAB_H_INCLUDED
/* Debug traces.  */
#ifndef TILE_YYDEBUG
# if defined YYDEBUG
#if YYDEBUG
#   define TILE_YYDEBUG 1
#  else
#   define TILE_YYDEBUG 0
#  endif
# else /* ! defined YYDEBUG */
#  define TILE_YYDEBUG 0
# endif /* ! defined YYDEBUG */
#endif  /* ! defined TILE_YYDEBUG */
#if TILE_YYDEBUG
extern int tile_yydebug;
#endif
/* "%code requires" blocks.  */

#include "grammar/gram.h"


/* Token kinds.  */
#ifndef TILE_YYTOKENTYPE
# define TILE_YYTOKENTYPE
  enum tile_yytokentype
  {
    TOK_TILE_YYEMPTY = -2,
    TOK_END = 0,                   /* "end of file"  */
    TOK_TILE_YYerror = 256,        /* error  */
    TOK_TILE_YYUNDEF = 257,        /* "invalid token"  */
    TOK_TILE = 258,                /* "tile"  */
    TOK_TENSOR = 259,              /* "tensor"  */
    TOK_PTR = 260,                 /* "ptr"  */
    TOK_KERNEL = 261,              /* "kernel"  */
    TOK_FN = 262,                  /* "fn"  */
    TOK_CONST = 263,               /* "const"  */
    TOK_LET = 264,                 /* "let"  */
    TOK_VAR = 265,                 /* "var"  */
    TOK_FOR = 266,                 /* "for"  */
    TOK_WHILE = 267,               /* "while"  */
    TOK_IF = 268,                  /* "if"  */
    TOK_ELSE = 269,                /* "else"  */
    TOK_UNSAFE = 270,              /* "unsafe"  */
    TOK_BREAK = 271,               /* "break"  */
    TOK_CONTINUE = 272,            /* "continue"  */
    TOK_RETURN = 273,              /* "return"  */
    TOK_IN = 274,                  /* "in"  */
    TOK_OUT = 275,                 /* "out"  */
    TOK_INOUT = 276,               /* "inout"  */
    TOK_GRID = 277,                /* "grid"  */
    TOK_WHERE = 278,               /* "where"  */
    TOK_STEP = 279,                /* "step"  */
    TOK_INSTANCE = 280,            /* "instance"  */
    TOK_TUNE = 281,                /* "tune"  */
    TOK_IMPORT = 282,              /* "import"  */
    TOK_ENTRY = 283,               /* "entry"  */
    TOK_SCRATCH = 284,             /* "scratch"  */
    TOK_PARAM = 285,               /* "param"  */
    TOK_AS = 286,                  /* "as"  */
    TOK_DIMS = 287,                /* "dims"  */
    TOK_LPAREN = 288,              /* "("  */
    TOK_RPAREN = 289,              /* ")"  */
    TOK_LBRACK = 290,              /* "["  */
    TOK_RBRACK = 291,              /* "]"  */
    TOK_LBRACE = 292,              /* "{"  */
    TOK_RBRACE = 293,              /* "}"  */
    TOK_COMMA = 294,               /* ","  */
    TOK_SEMI = 295,                /* ";"  */
    TOK_COLON = 296,               /* ":"  */
    TOK_DOT = 297,                 /* "."  */
    TOK_DOTDOT = 298,              /* ".."  */
    TOK_ARROW = 299,               /* "->"  */
    TOK_QUESTION = 300,            /* "?"  */
    TOK_UNDER = 301,               /* "_"  */
    TOK_PLUS = 302,                /* "+"  */
    TOK_MINUS = 303,               /* "-"  */
    TOK_STAR = 304,                /* "*"  */
    TOK_SLASH = 305,               /* "/"  */
    TOK_PERCENT = 306,             /* "%"  */
    TOK_AT = 307,                  /* "@"  */
    TOK_AMP = 308,                 /* "&"  */
    TOK_BAR = 309,                 /* "|"  */
    TOK_CARET = 310,               /* "^"  */
    TOK_TILDE = 311,               /* "~"  */
    TOK_BANG = 312,                /* "!"  */
    TOK_ANDAND = 313,              /* "&&"  */
    TOK_OROR = 314,                /* "||"  */
    TOK_EQ = 315,                  /* "=="  */
    TOK_NE = 316,                  /* "!="  */
    TOK_LT = 317,                  /* "<"  */
    TOK_LE = 318,                  /* "<="  */
    TOK_SHL = 319,                 /* "<<"  */
    TOK_ASSIGN = 320,              /* "="  */
    TOK_PLUS_ASSIGN = 321,         /* "+="  */
    TOK_MINUS_ASSIGN = 322,        /* "-="  */
    TOK_STAR_ASSIGN = 323,         /* "*="  */
    TOK_SLASH_ASSIGN = 324,        /* "/="  */
    TOK_PERCENT_ASSIGN = 325,      /* "%="  */
    TOK_AT_ASSIGN = 326,           /* "@="  */
    TOK_AMP_ASSIGN = 327,          /* "&="  */
    TOK_BAR_ASSIGN = 328,          /* "|="  */
    TOK_CARET_ASSIGN = 329,        /* "^="  */
    TOK_SHL_ASSIGN = 330,          /* "<<="  */
    TOK_GT = 331,                  /* ">"  */
    TOK_GT_GT = 332,               /* "> then >"  */
    TOK_GT_EQ = 333,               /* "> then ="  */
    TOK_GT_GE = 334,               /* "> then >="  */
    TOK_IDENT = 335,               /* "a name"  */
    TOK_INT = 336,                 /* "an integer"  */
    TOK_FLOAT = 337,               /* "a float literal"  */
    TOK_STRING = 338,              /* "a string"  */
    TOK_DOC = 339,                 /* "a doc comment"  */
    TOK_SYNC = 340,                /* "a place to go on"  */
    TOK_BODY = 341                 /* "a body to go on with"  */
  };
  typedef enum tile_yytokentype tile_yytoken_kind_t;
#endif

/* Value type.  */
#if ! defined TILE_YYSTYPE && ! defined TILE_YYSTYPE_IS_DECLARED
union TILE_YYSTYPE
{

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


};
typedef union TILE_YYSTYPE TILE_YYSTYPE;
# define TILE_YYSTYPE_IS_TRIVIAL 1
# define TILE_YYSTYPE_IS_DECLARED 1
#endif

/* Location type.  */
typedef Span TILE_YYLTYPE;




int tile_yyparse (Gram *g);

/* "%code provides" blocks.  */

int tile_yylex(TILE_YYSTYPE *value, Span *at, Gram *g);


#endif /* !YY_TILE_YY_BOOTSTRAP_TILE_TAB_H_INCLUDED  */
