/* A Bison parser, made by GNU Bison 3.8.2.  */

/* Bison implementation for Yacc-like parsers in C

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

/* C LALR(1) parser skeleton written by Richard Stallman, by
   simplifying the original so-called "semantic" parser.  */

/* DO NOT RELY ON FEATURES THAT ARE NOT DOCUMENTED in the manual,
   especially those whose name start with YY_ or yy_.  They are
   private implementation details that can be changed or removed.  */

/* All symbols defined below should begin with yy or YY, to avoid
   infringing on user name space.  This should be done even for local
   variables, as they might otherwise be expanded by user macros.
   There are some unavoidable exceptions within include files to
   define necessary library symbols; they are noted "INFRINGES ON
   USER NAME SPACE" below.  */

/* Identify Bison output, and Bison version.  */
#define YYBISON 30802

/* Bison version string.  */
#define YYBISON_VERSION "3.8.2"

/* Skeleton name.  */
#define YYSKELETON_NAME "yacc.c"

/* Pure parsers.  */
#define YYPURE 2

/* Push parsers.  */
#define YYPUSH 0

/* Pull parsers.  */
#define YYPULL 1

/* Substitute the type names.  */
#define YYSTYPE         TILE_YYSTYPE
#define YYLTYPE         TILE_YYLTYPE
/* Substitute the variable and function names.  */
#define yyparse         tile_yyparse
#define yylex           tile_yylex
#define yyerror         tile_yyerror
#define yydebug         tile_yydebug
#define yynerrs         tile_yynerrs


# ifndef YY_CAST
#  ifdef __cplusplus
#   define YY_CAST(Type, Val) static_cast<Type> (Val)
#   define YY_REINTERPRET_CAST(Type, Val) reinterpret_cast<Type> (Val)
#  else
#   define YY_CAST(Type, Val) ((Type) (Val))
#   define YY_REINTERPRET_CAST(Type, Val) ((Type) (Val))
#  endif
# endif
# ifndef YY_NULLPTR
#  if defined __cplusplus
#   if 201103L <= __cplusplus
#    define YY_NULLPTR nullptr
#   else
#    define YY_NULLPTR 0
#   endif
#  else
#   define YY_NULLPTR ((void*)0)
#  endif
# endif

#include "tile_tab.h"
/* Symbol kind.  */
enum yysymbol_kind_t
{
  YYSYMBOL_YYEMPTY = -2,
  YYSYMBOL_YYEOF = 0,                      /* "end of file"  */
  YYSYMBOL_YYerror = 1,                    /* error  */
  YYSYMBOL_YYUNDEF = 2,                    /* "invalid token"  */
  YYSYMBOL_TILE = 3,                       /* "tile"  */
  YYSYMBOL_TENSOR = 4,                     /* "tensor"  */
  YYSYMBOL_PTR = 5,                        /* "ptr"  */
  YYSYMBOL_KERNEL = 6,                     /* "kernel"  */
  YYSYMBOL_FN = 7,                         /* "fn"  */
  YYSYMBOL_CONST = 8,                      /* "const"  */
  YYSYMBOL_LET = 9,                        /* "let"  */
  YYSYMBOL_VAR = 10,                       /* "var"  */
  YYSYMBOL_FOR = 11,                       /* "for"  */
  YYSYMBOL_WHILE = 12,                     /* "while"  */
  YYSYMBOL_IF = 13,                        /* "if"  */
  YYSYMBOL_ELSE = 14,                      /* "else"  */
  YYSYMBOL_UNSAFE = 15,                    /* "unsafe"  */
  YYSYMBOL_BREAK = 16,                     /* "break"  */
  YYSYMBOL_CONTINUE = 17,                  /* "continue"  */
  YYSYMBOL_RETURN = 18,                    /* "return"  */
  YYSYMBOL_IN = 19,                        /* "in"  */
  YYSYMBOL_OUT = 20,                       /* "out"  */
  YYSYMBOL_INOUT = 21,                     /* "inout"  */
  YYSYMBOL_GRID = 22,                      /* "grid"  */
  YYSYMBOL_WHERE = 23,                     /* "where"  */
  YYSYMBOL_STEP = 24,                      /* "step"  */
  YYSYMBOL_INSTANCE = 25,                  /* "instance"  */
  YYSYMBOL_TUNE = 26,                      /* "tune"  */
  YYSYMBOL_IMPORT = 27,                    /* "import"  */
  YYSYMBOL_ENTRY = 28,                     /* "entry"  */
  YYSYMBOL_SCRATCH = 29,                   /* "scratch"  */
  YYSYMBOL_PARAM = 30,                     /* "param"  */
  YYSYMBOL_AS = 31,                        /* "as"  */
  YYSYMBOL_DIMS = 32,                      /* "dims"  */
  YYSYMBOL_LPAREN = 33,                    /* "("  */
  YYSYMBOL_RPAREN = 34,                    /* ")"  */
  YYSYMBOL_LBRACK = 35,                    /* "["  */
  YYSYMBOL_RBRACK = 36,                    /* "]"  */
  YYSYMBOL_LBRACE = 37,                    /* "{"  */
  YYSYMBOL_RBRACE = 38,                    /* "}"  */
  YYSYMBOL_COMMA = 39,                     /* ","  */
  YYSYMBOL_SEMI = 40,                      /* ";"  */
  YYSYMBOL_COLON = 41,                     /* ":"  */
  YYSYMBOL_DOT = 42,                       /* "."  */
  YYSYMBOL_DOTDOT = 43,                    /* ".."  */
  YYSYMBOL_ARROW = 44,                     /* "->"  */
  YYSYMBOL_QUESTION = 45,                  /* "?"  */
  YYSYMBOL_UNDER = 46,                     /* "_"  */
  YYSYMBOL_PLUS = 47,                      /* "+"  */
  YYSYMBOL_MINUS = 48,                     /* "-"  */
  YYSYMBOL_STAR = 49,                      /* "*"  */
  YYSYMBOL_SLASH = 50,                     /* "/"  */
  YYSYMBOL_PERCENT = 51,                   /* "%"  */
  YYSYMBOL_AT = 52,                        /* "@"  */
  YYSYMBOL_AMP = 53,                       /* "&"  */
  YYSYMBOL_BAR = 54,                       /* "|"  */
  YYSYMBOL_CARET = 55,                     /* "^"  */
  YYSYMBOL_TILDE = 56,                     /* "~"  */
  YYSYMBOL_BANG = 57,                      /* "!"  */
  YYSYMBOL_ANDAND = 58,                    /* "&&"  */
  YYSYMBOL_OROR = 59,                      /* "||"  */
  YYSYMBOL_EQ = 60,                        /* "=="  */
  YYSYMBOL_NE = 61,                        /* "!="  */
  YYSYMBOL_LT = 62,                        /* "<"  */
  YYSYMBOL_LE = 63,                        /* "<="  */
  YYSYMBOL_SHL = 64,                       /* "<<"  */
  YYSYMBOL_ASSIGN = 65,                    /* "="  */
  YYSYMBOL_PLUS_ASSIGN = 66,               /* "+="  */
  YYSYMBOL_MINUS_ASSIGN = 67,              /* "-="  */
  YYSYMBOL_STAR_ASSIGN = 68,               /* "*="  */
  YYSYMBOL_SLASH_ASSIGN = 69,              /* "/="  */
  YYSYMBOL_PERCENT_ASSIGN = 70,            /* "%="  */
  YYSYMBOL_AT_ASSIGN = 71,                 /* "@="  */
  YYSYMBOL_AMP_ASSIGN = 72,                /* "&="  */
  YYSYMBOL_BAR_ASSIGN = 73,                /* "|="  */
  YYSYMBOL_CARET_ASSIGN = 74,              /* "^="  */
  YYSYMBOL_SHL_ASSIGN = 75,                /* "<<="  */
  YYSYMBOL_GT = 76,                        /* ">"  */
  YYSYMBOL_GT_GT = 77,                     /* "> then >"  */
  YYSYMBOL_GT_EQ = 78,                     /* "> then ="  */
  YYSYMBOL_GT_GE = 79,                     /* "> then >="  */
  YYSYMBOL_IDENT = 80,                     /* "a name"  */
  YYSYMBOL_INT = 81,                       /* "an integer"  */
  YYSYMBOL_FLOAT = 82,                     /* "a float literal"  */
  YYSYMBOL_STRING = 83,                    /* "a string"  */
  YYSYMBOL_DOC = 84,                       /* "a doc comment"  */
  YYSYMBOL_SYNC = 85,                      /* "a place to go on"  */
  YYSYMBOL_BODY = 86,                      /* "a body to go on with"  */
  YYSYMBOL_YYACCEPT = 87,                  /* $accept  */
  YYSYMBOL_file = 88,                      /* file  */
  YYSYMBOL_items = 89,                     /* items  */
  YYSYMBOL_item = 90,                      /* item  */
  YYSYMBOL_headless = 91,                  /* headless  */
  YYSYMBOL_doc = 92,                       /* doc  */
  YYSYMBOL_attrs = 93,                     /* attrs  */
  YYSYMBOL_attr = 94,                      /* attr  */
  YYSYMBOL_attr_args = 95,                 /* attr_args  */
  YYSYMBOL_name = 96,                      /* name  */
  YYSYMBOL_opt_as = 97,                    /* opt_as  */
  YYSYMBOL_constdef = 98,                  /* constdef  */
  YYSYMBOL_instdef = 99,                   /* instdef  */
  YYSYMBOL_instance = 100,                 /* instance  */
  YYSYMBOL_dims_order = 101,               /* dims_order  */
  YYSYMBOL_grid = 102,                     /* grid  */
  YYSYMBOL_wheres = 103,                   /* wheres  */
  YYSYMBOL_wheres1 = 104,                  /* wheres1  */
  YYSYMBOL_conds = 105,                    /* conds  */
  YYSYMBOL_result = 106,                   /* result  */
  YYSYMBOL_generics0 = 107,                /* generics0  */
  YYSYMBOL_generics = 108,                 /* generics  */
  YYSYMBOL_generic = 109,                  /* generic  */
  YYSYMBOL_class = 110,                    /* class  */
  YYSYMBOL_alts = 111,                     /* alts  */
  YYSYMBOL_params = 112,                   /* params  */
  YYSYMBOL_params1 = 113,                  /* params1  */
  YYSYMBOL_param = 114,                    /* param  */
  YYSYMBOL_param_head = 115,               /* param_head  */
  YYSYMBOL_mode = 116,                     /* mode  */
  YYSYMBOL_type = 117,                     /* type  */
  YYSYMBOL_rtype = 118,                    /* rtype  */
  YYSYMBOL_opt_rtype = 119,                /* opt_rtype  */
  YYSYMBOL_types = 120,                    /* types  */
  YYSYMBOL_basic_type = 121,               /* basic_type  */
  YYSYMBOL_shape = 122,                    /* shape  */
  YYSYMBOL_dims = 123,                     /* dims  */
  YYSYMBOL_dims1 = 124,                    /* dims1  */
  YYSYMBOL_dim = 125,                      /* dim  */
  YYSYMBOL_targs0 = 126,                   /* targs0  */
  YYSYMBOL_targs = 127,                    /* targs  */
  YYSYMBOL_named_targ = 128,               /* named_targ  */
  YYSYMBOL_targ = 129,                     /* targ  */
  YYSYMBOL_close = 130,                    /* close  */
  YYSYMBOL_comma = 131,                    /* comma  */
  YYSYMBOL_block = 132,                    /* block  */
  YYSYMBOL_stmts = 133,                    /* stmts  */
  YYSYMBOL_stmt = 134,                     /* stmt  */
  YYSYMBOL_plain = 135,                    /* plain  */
  YYSYMBOL_ifstmt = 136,                   /* ifstmt  */
  YYSYMBOL_decls = 137,                    /* decls  */
  YYSYMBOL_decl = 138,                     /* decl  */
  YYSYMBOL_pat = 139,                      /* pat  */
  YYSYMBOL_pats = 140,                     /* pats  */
  YYSYMBOL_pats0 = 141,                    /* pats0  */
  YYSYMBOL_assign = 142,                   /* assign  */
  YYSYMBOL_lhs = 143,                      /* lhs  */
  YYSYMBOL_args = 144,                     /* args  */
  YYSYMBOL_args1 = 145,                    /* args1  */
  YYSYMBOL_arg = 146,                      /* arg  */
  YYSYMBOL_index = 147,                    /* index  */
  YYSYMBOL_ix = 148,                       /* ix  */
  YYSYMBOL_exprs = 149,                    /* exprs  */
  YYSYMBOL_exprs1 = 150,                   /* exprs1  */
  YYSYMBOL_cond_expr = 151,                /* cond_expr  */
  YYSYMBOL_expr = 152,                     /* expr  */
  YYSYMBOL_ternary = 153,                  /* ternary  */
  YYSYMBOL_binary = 154,                   /* binary  */
  YYSYMBOL_cmpop = 155,                    /* cmpop  */
  YYSYMBOL_sum = 156,                      /* sum  */
  YYSYMBOL_addop = 157,                    /* addop  */
  YYSYMBOL_mulop = 158,                    /* mulop  */
  YYSYMBOL_unary = 159,                    /* unary  */
  YYSYMBOL_postfix = 160,                  /* postfix  */
  YYSYMBOL_primary = 161                   /* primary  */
};
typedef enum yysymbol_kind_t yysymbol_kind_t;



/* Unqualified %code blocks.  */

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


#ifdef short
# undef short
#endif

/* On compilers that do not define __PTRDIFF_MAX__ etc., make sure
   <limits.h> and (if available) <stdint.h> are included
   so that the code can choose integer types of a good width.  */

#ifndef __PTRDIFF_MAX__
# include <limits.h> /* INFRINGES ON USER NAME SPACE */
# if defined __STDC_VERSION__ && 199901 <= __STDC_VERSION__
#  include <stdint.h> /* INFRINGES ON USER NAME SPACE */
#  define YY_STDINT_H
# endif
#endif

/* Narrow types that promote to a signed type and that can represent a
   signed or unsigned integer of at least N bits.  In tables they can
   save space and decrease cache pressure.  Promoting to a signed type
   helps avoid bugs in integer arithmetic.  */

#ifdef __INT_LEAST8_MAX__
typedef __INT_LEAST8_TYPE__ yytype_int8;
#elif defined YY_STDINT_H
typedef int_least8_t yytype_int8;
#else
typedef signed char yytype_int8;
#endif

#ifdef __INT_LEAST16_MAX__
typedef __INT_LEAST16_TYPE__ yytype_int16;
#elif defined YY_STDINT_H
typedef int_least16_t yytype_int16;
#else
typedef short yytype_int16;
#endif

/* Work around bug in HP-UX 11.23, which defines these macros
   incorrectly for preprocessor constants.  This workaround can likely
   be removed in 2023, as HPE has promised support for HP-UX 11.23
   (aka HP-UX 11i v2) only through the end of 2022; see Table 2 of
   <https://h20195.www2.hpe.com/V2/getpdf.aspx/4AA4-7673ENW.pdf>.  */
#ifdef __hpux
# undef UINT_LEAST8_MAX
# undef UINT_LEAST16_MAX
# define UINT_LEAST8_MAX 255
# define UINT_LEAST16_MAX 65535
#endif

#if defined __UINT_LEAST8_MAX__ && __UINT_LEAST8_MAX__ <= __INT_MAX__
typedef __UINT_LEAST8_TYPE__ yytype_uint8;
#elif (!defined __UINT_LEAST8_MAX__ && defined YY_STDINT_H \
       && UINT_LEAST8_MAX <= INT_MAX)
typedef uint_least8_t yytype_uint8;
#elif !defined __UINT_LEAST8_MAX__ && UCHAR_MAX <= INT_MAX
typedef unsigned char yytype_uint8;
#else
typedef short yytype_uint8;
#endif

#if defined __UINT_LEAST16_MAX__ && __UINT_LEAST16_MAX__ <= __INT_MAX__
typedef __UINT_LEAST16_TYPE__ yytype_uint16;
#elif (!defined __UINT_LEAST16_MAX__ && defined YY_STDINT_H \
       && UINT_LEAST16_MAX <= INT_MAX)
typedef uint_least16_t yytype_uint16;
#elif !defined __UINT_LEAST16_MAX__ && USHRT_MAX <= INT_MAX
typedef unsigned short yytype_uint16;
#else
typedef int yytype_uint16;
#endif

#ifndef YYPTRDIFF_T
# if defined __PTRDIFF_TYPE__ && defined __PTRDIFF_MAX__
#  define YYPTRDIFF_T __PTRDIFF_TYPE__
#  define YYPTRDIFF_MAXIMUM __PTRDIFF_MAX__
# elif defined PTRDIFF_MAX
#  ifndef ptrdiff_t
#   include <stddef.h> /* INFRINGES ON USER NAME SPACE */
#  endif
#  define YYPTRDIFF_T ptrdiff_t
#  define YYPTRDIFF_MAXIMUM PTRDIFF_MAX
# else
#  define YYPTRDIFF_T long
#  define YYPTRDIFF_MAXIMUM LONG_MAX
# endif
#endif

#ifndef YYSIZE_T
# ifdef __SIZE_TYPE__
#  define YYSIZE_T __SIZE_TYPE__
# elif defined size_t
#  define YYSIZE_T size_t
# elif defined __STDC_VERSION__ && 199901 <= __STDC_VERSION__
#  include <stddef.h> /* INFRINGES ON USER NAME SPACE */
#  define YYSIZE_T size_t
# else
#  define YYSIZE_T unsigned
# endif
#endif

#define YYSIZE_MAXIMUM                                  \
  YY_CAST (YYPTRDIFF_T,                                 \
           (YYPTRDIFF_MAXIMUM < YY_CAST (YYSIZE_T, -1)  \
            ? YYPTRDIFF_MAXIMUM                         \
            : YY_CAST (YYSIZE_T, -1)))

#define YYSIZEOF(X) YY_CAST (YYPTRDIFF_T, sizeof (X))


/* Stored state numbers (used for stacks). */
typedef yytype_int16 yy_state_t;

/* State numbers in computations.  */
typedef int yy_state_fast_t;

#ifndef YY_
# if defined YYENABLE_NLS && YYENABLE_NLS
#  if ENABLE_NLS
#   include <libintl.h> /* INFRINGES ON USER NAME SPACE */
#   define YY_(Msgid) dgettext ("bison-runtime", Msgid)
#  endif
# endif
# ifndef YY_
#  define YY_(Msgid) Msgid
# endif
#endif


#ifndef YY_ATTRIBUTE_PURE
# if defined __GNUC__ && 2 < __GNUC__ + (96 <= __GNUC_MINOR__)
#  define YY_ATTRIBUTE_PURE __attribute__ ((__pure__))
# else
#  define YY_ATTRIBUTE_PURE
# endif
#endif

#ifndef YY_ATTRIBUTE_UNUSED
# if defined __GNUC__ && 2 < __GNUC__ + (7 <= __GNUC_MINOR__)
#  define YY_ATTRIBUTE_UNUSED __attribute__ ((__unused__))
# else
#  define YY_ATTRIBUTE_UNUSED
# endif
#endif

/* Suppress unused-variable warnings by "using" E.  */
#if ! defined lint || defined __GNUC__
# define YY_USE(E) ((void) (E))
#else
# define YY_USE(E) /* empty */
#endif

/* Suppress an incorrect diagnostic about yylval being uninitialized.  */
#if defined __GNUC__ && ! defined __ICC && 406 <= __GNUC__ * 100 + __GNUC_MINOR__
# if __GNUC__ * 100 + __GNUC_MINOR__ < 407
#  define YY_IGNORE_MAYBE_UNINITIALIZED_BEGIN                           \
    _Pragma ("GCC diagnostic push")                                     \
    _Pragma ("GCC diagnostic ignored \"-Wuninitialized\"")
# else
#  define YY_IGNORE_MAYBE_UNINITIALIZED_BEGIN                           \
    _Pragma ("GCC diagnostic push")                                     \
    _Pragma ("GCC diagnostic ignored \"-Wuninitialized\"")              \
    _Pragma ("GCC diagnostic ignored \"-Wmaybe-uninitialized\"")
# endif
# define YY_IGNORE_MAYBE_UNINITIALIZED_END      \
    _Pragma ("GCC diagnostic pop")
#else
# define YY_INITIAL_VALUE(Value) Value
#endif
#ifndef YY_IGNORE_MAYBE_UNINITIALIZED_BEGIN
# define YY_IGNORE_MAYBE_UNINITIALIZED_BEGIN
# define YY_IGNORE_MAYBE_UNINITIALIZED_END
#endif
#ifndef YY_INITIAL_VALUE
# define YY_INITIAL_VALUE(Value) /* Nothing. */
#endif

#if defined __cplusplus && defined __GNUC__ && ! defined __ICC && 6 <= __GNUC__
# define YY_IGNORE_USELESS_CAST_BEGIN                          \
    _Pragma ("GCC diagnostic push")                            \
    _Pragma ("GCC diagnostic ignored \"-Wuseless-cast\"")
# define YY_IGNORE_USELESS_CAST_END            \
    _Pragma ("GCC diagnostic pop")
#endif
#ifndef YY_IGNORE_USELESS_CAST_BEGIN
# define YY_IGNORE_USELESS_CAST_BEGIN
# define YY_IGNORE_USELESS_CAST_END
#endif


#define YY_ASSERT(E) ((void) (0 && (E)))

#if 1

/* The parser invokes alloca or malloc; define the necessary symbols.  */

# ifdef YYSTACK_ALLOC
   /* Pacify GCC's 'empty if-body' warning.  */
#  define YYSTACK_FREE(Ptr) do { /* empty */; } while (0)
#  ifndef YYSTACK_ALLOC_MAXIMUM
    /* The OS might guarantee only one guard page at the bottom of the stack,
       and a page size can be as small as 4096 bytes.  So we cannot safely
       invoke alloca (N) if N exceeds 4096.  Use a slightly smaller number
       to allow for a few compiler-allocated temporary stack slots.  */
#   define YYSTACK_ALLOC_MAXIMUM 4032 /* reasonable circa 2006 */
#  endif
# else
#  define YYSTACK_ALLOC YYMALLOC
#  define YYSTACK_FREE YYFREE
#  ifndef YYSTACK_ALLOC_MAXIMUM
#   define YYSTACK_ALLOC_MAXIMUM YYSIZE_MAXIMUM
#  endif
#  if (defined __cplusplus && ! defined EXIT_SUCCESS \
       && ! ((defined YYMALLOC || defined malloc) \
             && (defined YYFREE || defined free)))
#   include <stdlib.h> /* INFRINGES ON USER NAME SPACE */
#   ifndef EXIT_SUCCESS
#    define EXIT_SUCCESS 0
#   endif
#  endif
#  ifndef YYMALLOC
#   define YYMALLOC malloc
#   if ! defined malloc && ! defined EXIT_SUCCESS
void *malloc (YYSIZE_T); /* INFRINGES ON USER NAME SPACE */
#   endif
#  endif
#  ifndef YYFREE
#   define YYFREE free
#   if ! defined free && ! defined EXIT_SUCCESS
void free (void *); /* INFRINGES ON USER NAME SPACE */
#   endif
#  endif
# endif
# define YYCOPY_NEEDED 1
#endif /* 1 */

#if (! defined yyoverflow \
     && (! defined __cplusplus \
         || (defined TILE_YYLTYPE_IS_TRIVIAL && TILE_YYLTYPE_IS_TRIVIAL \
             && defined TILE_YYSTYPE_IS_TRIVIAL && TILE_YYSTYPE_IS_TRIVIAL)))

/* A type that is properly aligned for any stack member.  */
union yyalloc
{
  yy_state_t yyss_alloc;
  YYSTYPE yyvs_alloc;
  YYLTYPE yyls_alloc;
};

/* The size of the maximum gap between one aligned stack and the next.  */
# define YYSTACK_GAP_MAXIMUM (YYSIZEOF (union yyalloc) - 1)

/* The size of an array large to enough to hold all stacks, each with
   N elements.  */
# define YYSTACK_BYTES(N) \
     ((N) * (YYSIZEOF (yy_state_t) + YYSIZEOF (YYSTYPE) \
             + YYSIZEOF (YYLTYPE)) \
      + 2 * YYSTACK_GAP_MAXIMUM)

# define YYCOPY_NEEDED 1

/* Relocate STACK from its old location to the new one.  The
   local variables YYSIZE and YYSTACKSIZE give the old and new number of
   elements in the stack, and YYPTR gives the new location of the
   stack.  Advance YYPTR to a properly aligned location for the next
   stack.  */
# define YYSTACK_RELOCATE(Stack_alloc, Stack)                           \
    do                                                                  \
      {                                                                 \
        YYPTRDIFF_T yynewbytes;                                         \
        YYCOPY (&yyptr->Stack_alloc, Stack, yysize);                    \
        Stack = &yyptr->Stack_alloc;                                    \
        yynewbytes = yystacksize * YYSIZEOF (*Stack) + YYSTACK_GAP_MAXIMUM; \
        yyptr += yynewbytes / YYSIZEOF (*yyptr);                        \
      }                                                                 \
    while (0)

#endif

#if defined YYCOPY_NEEDED && YYCOPY_NEEDED
/* Copy COUNT objects from SRC to DST.  The source and destination do
   not overlap.  */
# ifndef YYCOPY
#  if defined __GNUC__ && 1 < __GNUC__
#   define YYCOPY(Dst, Src, Count) \
      __builtin_memcpy (Dst, Src, YY_CAST (YYSIZE_T, (Count)) * sizeof (*(Src)))
#  else
#   define YYCOPY(Dst, Src, Count)              \
      do                                        \
        {                                       \
          YYPTRDIFF_T yyi;                      \
          for (yyi = 0; yyi < (Count); yyi++)   \
            (Dst)[yyi] = (Src)[yyi];            \
        }                                       \
      while (0)
#  endif
# endif
#endif /* !YYCOPY_NEEDED */

/* YYFINAL -- State number of the termination state.  */
#define YYFINAL  3
/* YYLAST -- Last index in YYTABLE.  */
#define YYLAST   1195

/* YYNTOKENS -- Number of terminals.  */
#define YYNTOKENS  87
/* YYNNTS -- Number of nonterminals.  */
#define YYNNTS  75
/* YYNRULES -- Number of rules.  */
#define YYNRULES  242
/* YYNSTATES -- Number of states.  */
#define YYNSTATES  463

/* YYMAXUTOK -- Last valid token kind.  */
#define YYMAXUTOK   341


/* YYTRANSLATE(TOKEN-NUM) -- Symbol number corresponding to TOKEN-NUM
   as returned by yylex, with out-of-bounds checking.  */
#define YYTRANSLATE(YYX)                                \
  (0 <= (YYX) && (YYX) <= YYMAXUTOK                     \
   ? YY_CAST (yysymbol_kind_t, yytranslate[YYX])        \
   : YYSYMBOL_YYUNDEF)

/* YYTRANSLATE[TOKEN-NUM] -- Symbol number corresponding to TOKEN-NUM
   as returned by yylex.  */
static const yytype_int8 yytranslate[] =
{
       0,     2,     2,     2,     2,     2,     2,     2,     2,     2,
       2,     2,     2,     2,     2,     2,     2,     2,     2,     2,
       2,     2,     2,     2,     2,     2,     2,     2,     2,     2,
       2,     2,     2,     2,     2,     2,     2,     2,     2,     2,
       2,     2,     2,     2,     2,     2,     2,     2,     2,     2,
       2,     2,     2,     2,     2,     2,     2,     2,     2,     2,
       2,     2,     2,     2,     2,     2,     2,     2,     2,     2,
       2,     2,     2,     2,     2,     2,     2,     2,     2,     2,
       2,     2,     2,     2,     2,     2,     2,     2,     2,     2,
       2,     2,     2,     2,     2,     2,     2,     2,     2,     2,
       2,     2,     2,     2,     2,     2,     2,     2,     2,     2,
       2,     2,     2,     2,     2,     2,     2,     2,     2,     2,
       2,     2,     2,     2,     2,     2,     2,     2,     2,     2,
       2,     2,     2,     2,     2,     2,     2,     2,     2,     2,
       2,     2,     2,     2,     2,     2,     2,     2,     2,     2,
       2,     2,     2,     2,     2,     2,     2,     2,     2,     2,
       2,     2,     2,     2,     2,     2,     2,     2,     2,     2,
       2,     2,     2,     2,     2,     2,     2,     2,     2,     2,
       2,     2,     2,     2,     2,     2,     2,     2,     2,     2,
       2,     2,     2,     2,     2,     2,     2,     2,     2,     2,
       2,     2,     2,     2,     2,     2,     2,     2,     2,     2,
       2,     2,     2,     2,     2,     2,     2,     2,     2,     2,
       2,     2,     2,     2,     2,     2,     2,     2,     2,     2,
       2,     2,     2,     2,     2,     2,     2,     2,     2,     2,
       2,     2,     2,     2,     2,     2,     2,     2,     2,     2,
       2,     2,     2,     2,     2,     2,     1,     2,     3,     4,
       5,     6,     7,     8,     9,    10,    11,    12,    13,    14,
      15,    16,    17,    18,    19,    20,    21,    22,    23,    24,
      25,    26,    27,    28,    29,    30,    31,    32,    33,    34,
      35,    36,    37,    38,    39,    40,    41,    42,    43,    44,
      45,    46,    47,    48,    49,    50,    51,    52,    53,    54,
      55,    56,    57,    58,    59,    60,    61,    62,    63,    64,
      65,    66,    67,    68,    69,    70,    71,    72,    73,    74,
      75,    76,    77,    78,    79,    80,    81,    82,    83,    84,
      85,    86
};

#if TILE_YYDEBUG
/* YYRLINE[YYN] -- Source line where rule number YYN was defined.  */
static const yytype_int16 yyrline[] =
{
       0,   202,   202,   205,   206,   209,   210,   212,   213,   214,
     217,   220,   223,   224,   225,   228,   231,   232,   235,   236,
     239,   242,   243,   246,   246,   246,   246,   246,   246,   246,
     246,   246,   246,   246,   247,   247,   247,   250,   251,   254,
     257,   260,   261,   262,   263,   266,   267,   270,   271,   274,
     275,   278,   279,   280,   283,   286,   287,   288,   292,   293,
     296,   297,   300,   301,   302,   303,   306,   307,   310,   311,
     315,   316,   319,   320,   323,   324,   327,   328,   331,   332,
     333,   339,   340,   341,   342,   345,   346,   349,   350,   353,
     354,   357,   358,   359,   361,   365,   366,   369,   370,   373,
     374,   377,   378,   381,   382,   385,   386,   389,   390,   393,
     394,   395,   398,   398,   398,   398,   401,   402,   408,   411,
     412,   413,   416,   417,   420,   423,   424,   425,   426,   427,
     428,   429,   431,   433,   435,   436,   437,   438,   439,   440,
     441,   442,   443,   444,   445,   448,   449,   450,   451,   452,
     454,   458,   459,   462,   463,   466,   467,   468,   471,   472,
     475,   476,   479,   480,   481,   482,   483,   484,   485,   486,
     487,   488,   489,   490,   493,   494,   495,   496,   502,   503,
     506,   507,   510,   511,   512,   515,   516,   519,   520,   523,
     524,   527,   528,   531,   532,   536,   537,   538,   541,   542,
     545,   546,   547,   548,   549,   550,   551,   552,   553,   557,
     558,   559,   560,   561,   562,   565,   566,   567,   570,   571,
     574,   575,   576,   577,   580,   581,   582,   583,   584,   585,
     588,   589,   590,   591,   594,   595,   596,   597,   598,   599,
     600,   601,   602
};
#endif

/** Accessing symbol of state STATE.  */
#define YY_ACCESSING_SYMBOL(State) YY_CAST (yysymbol_kind_t, yystos[State])

#if 1
/* The user-facing name of the symbol whose (internal) number is
   YYSYMBOL.  No bounds checking.  */
static const char *yysymbol_name (yysymbol_kind_t yysymbol) YY_ATTRIBUTE_UNUSED;

static const char *
yysymbol_name (yysymbol_kind_t yysymbol)
{
  static const char *const yy_sname[] =
  {
  "end of file", "error", "invalid token", "tile", "tensor", "ptr",
  "kernel", "fn", "const", "let", "var", "for", "while", "if", "else",
  "unsafe", "break", "continue", "return", "in", "out", "inout", "grid",
  "where", "step", "instance", "tune", "import", "entry", "scratch",
  "param", "as", "dims", "(", ")", "[", "]", "{", "}", ",", ";", ":", ".",
  "..", "->", "?", "_", "+", "-", "*", "/", "%", "@", "&", "|", "^", "~",
  "!", "&&", "||", "==", "!=", "<", "<=", "<<", "=", "+=", "-=", "*=",
  "/=", "%=", "@=", "&=", "|=", "^=", "<<=", ">", "> then >", "> then =",
  "> then >=", "a name", "an integer", "a float literal", "a string",
  "a doc comment", "a place to go on", "a body to go on with", "$accept",
  "file", "items", "item", "headless", "doc", "attrs", "attr", "attr_args",
  "name", "opt_as", "constdef", "instdef", "instance", "dims_order",
  "grid", "wheres", "wheres1", "conds", "result", "generics0", "generics",
  "generic", "class", "alts", "params", "params1", "param", "param_head",
  "mode", "type", "rtype", "opt_rtype", "types", "basic_type", "shape",
  "dims", "dims1", "dim", "targs0", "targs", "named_targ", "targ", "close",
  "comma", "block", "stmts", "stmt", "plain", "ifstmt", "decls", "decl",
  "pat", "pats", "pats0", "assign", "lhs", "args", "args1", "arg", "index",
  "ix", "exprs", "exprs1", "cond_expr", "expr", "ternary", "binary",
  "cmpop", "sum", "addop", "mulop", "unary", "postfix", "primary", YY_NULLPTR
  };
  return yy_sname[yysymbol];
}
#endif

#define YYPACT_NINF (-351)

#define yypact_value_is_default(Yyn) \
  ((Yyn) == YYPACT_NINF)

#define YYTABLE_NINF (-118)

#define yytable_value_is_error(Yyn) \
  ((Yyn) == YYTABLE_NINF)

/* YYPACT[STATE-NUM] -- Index in YYTABLE of the portion describing
   STATE-NUM.  */
static const yytype_int16 yypact[] =
{
    -351,    57,   202,  -351,     9,  -351,  -351,  -351,    39,   189,
    -351,  -351,  -351,  -351,  1058,  1058,  1058,   -48,  1058,   102,
    -351,  -351,    24,   525,  -351,  -351,  -351,  -351,  -351,  -351,
    -351,  -351,  -351,  -351,  -351,  -351,  -351,  -351,    55,    47,
      58,   106,    55,  1058,  1058,  1058,  1058,  -351,   769,   120,
      62,  -351,  -351,   119,  -351,   486,    90,  1058,  1058,  1058,
     124,   109,   110,   110,   138,   143,   115,   116,   122,   871,
     833,   833,   833,  -351,   871,   871,   871,   871,  -351,  -351,
    -351,    -2,  -351,   103,  -351,  -351,   316,  -351,    80,  -351,
     833,   146,    31,  -351,   833,   978,   486,   -20,  -351,  -351,
    -351,   833,   154,   156,  -351,  -351,   833,   134,   166,   179,
      -7,   833,  -351,   769,   769,   769,  -351,  -351,   188,   183,
     158,  -351,  1091,   316,   190,   183,  -351,   183,  -351,  -351,
    -351,  -351,   769,   769,   769,  -351,  -351,  -351,  -351,  -351,
    -351,  -351,  -351,  -351,  -351,  -351,   871,   871,   833,   565,
    1058,  -351,  -351,   160,  -351,   833,   833,   183,   996,   996,
     399,   833,   629,  1023,   193,   194,   667,  1058,  -351,  -351,
    -351,  -351,  -351,  1060,  -351,   197,   833,   769,   204,  1058,
    1058,   208,  1058,   211,  -351,    -7,    -7,  1058,   218,   214,
    -351,   192,   225,   236,   220,  -351,   212,   103,   217,   239,
     103,   996,   833,   247,   833,   833,   871,   871,   871,   871,
     871,  -351,  -351,  -351,  -351,   871,  -351,   207,   223,   871,
    -351,  -351,   244,  -351,   103,  -351,   254,  -351,   256,  -351,
      35,  -351,  -351,  -351,   833,  -351,  -351,   258,   996,  -351,
    -351,    88,  -351,    55,   118,  1058,   276,    39,   833,    39,
    -351,   216,  -351,  -351,  -351,   260,   255,   833,   565,  -351,
    1058,  -351,  -351,  -351,  -351,  -351,  -351,  -351,  -351,  -351,
    -351,  -351,   230,   833,   486,   267,   275,   103,  -351,  -351,
    -351,  -351,   -29,   185,   237,   277,   285,   279,   290,    -1,
    -351,   833,   833,  -351,   833,  -351,   833,  -351,  1042,  -351,
    -351,   286,   292,  -351,  -351,   293,   283,    -9,    25,    40,
     563,  1117,  -351,   871,  -351,   665,  -351,  -351,  -351,  -351,
     565,  -351,   263,   286,   996,  -351,   265,  -351,   314,   833,
    -351,    39,   320,  -351,  -351,   952,   301,    96,  -351,   271,
     299,  -351,  -351,  -351,  -351,   952,   769,  -351,  -351,   290,
     107,   917,   305,   120,  -351,  -351,  -351,  -351,  -351,   833,
    -351,   128,   996,  -351,   731,  -351,   871,  -351,  -351,   833,
     307,  -351,   833,   833,    73,   329,    48,   304,  -351,  -351,
    -351,  -351,   284,   296,   297,  -351,   330,   486,   486,   120,
    -351,   155,   206,   952,  -351,   833,    39,   312,   321,   317,
    -351,  -351,   769,  -351,  -351,  -351,  -351,  -351,   318,  -351,
    -351,   327,   833,  -351,    48,  -351,  -351,  -351,   769,   952,
     952,   324,   120,  -351,  -351,    39,  -351,   183,  -351,   952,
    -351,   833,  -351,   237,  -351,   833,    51,  -351,  -351,  -351,
    -351,  -351,   833,    39,  -351,   325,  -351,  -351,  -351,    66,
     833,  -351,   183,  -351,  -351,   833,  -351,    39,   335,    39,
    -351,  -351,  -351
};

/* YYDEFACT[STATE-NUM] -- Default reduction number in state STATE-NUM.
   Performed when YYTABLE does not specify something else to do.  Zero
   means the default is an error.  */
static const yytype_uint8 yydefact[] =
{
       3,     0,     0,     1,     0,    12,    17,     4,     0,    18,
      13,    15,   119,    14,     0,     0,     0,     0,     0,     0,
       7,     8,   103,     0,    24,    25,    26,    27,    28,    29,
      30,    31,    32,    33,    34,    35,    36,    23,    87,     0,
       0,    37,    87,     0,     0,     0,     0,    19,     0,    49,
       0,   118,   121,    18,   120,     0,     0,     0,     0,     0,
       0,     0,    58,    58,     0,    21,     0,     0,     0,     0,
       0,   189,     0,   239,     0,     0,     0,     0,   236,   237,
     238,   234,   235,     0,   105,   107,   109,   215,   224,   230,
       0,     0,    50,   124,     0,     0,     0,    82,    85,    88,
      81,     0,    41,    43,    38,     5,     0,    16,     0,     0,
      16,   178,    20,     0,     0,     0,   234,   225,     0,   116,
     191,   195,   198,   200,     0,   116,   191,   116,   227,   226,
     229,   228,     0,     0,     0,   112,   113,   114,   115,   104,
     218,   219,   220,   221,   222,   223,     0,     0,   178,     0,
       0,    51,    54,   193,    40,     0,     0,   116,     0,     0,
       0,     0,     0,     0,     0,     0,     0,    33,   174,   144,
     143,   122,   136,     0,    89,   116,   178,     0,     0,     0,
       0,     0,     0,   116,    60,    16,    16,     0,     0,   116,
      72,    74,   234,     0,   116,   180,   182,     0,   234,     0,
       0,   160,   117,     0,     0,     0,     0,     0,     0,     0,
       0,   209,   210,   211,   212,     0,   213,     0,     0,     0,
     240,   190,     0,   108,     0,   106,   216,   217,     0,   188,
       0,   185,   187,   231,     0,    52,    53,     0,     0,   156,
     155,     0,   151,    87,     0,     0,     0,     0,     0,     0,
     142,     0,   137,   138,   139,     0,     0,   178,     0,   127,
       0,   162,   163,   164,   165,   166,   167,   168,   169,   170,
     171,   172,     0,     0,   117,     0,     0,     0,    39,    42,
      44,     6,    62,    16,     0,     0,     0,     0,    45,    16,
      71,     0,     0,    22,   117,   179,     0,    91,     0,    92,
     158,   116,     0,   192,   241,     0,     0,   206,   204,   205,
     202,   201,   207,     0,   214,   203,   111,   110,   233,   232,
       0,   194,     0,   116,     0,   125,   154,   126,     0,     0,
     135,     0,   145,   128,   140,     0,     0,     0,   175,     0,
       0,    90,    86,    84,    83,     0,     0,    61,    59,    45,
      55,     0,     0,    49,    73,    75,   183,   181,   184,    97,
      96,     0,   117,   161,     0,   242,     0,   208,   186,     0,
       0,   152,     0,     0,     0,   148,     0,     0,   177,   176,
     173,   129,    63,    67,    66,    64,    47,     0,     0,    49,
      78,    79,    80,     0,    76,     0,     0,   234,     0,   116,
      99,   101,     0,    93,   159,   197,   196,   199,     0,   157,
     153,     0,     0,   134,     0,   146,   147,   141,     0,     0,
       0,     0,    49,    57,    56,     0,    77,   116,    10,     0,
      95,   117,    98,     0,   123,     0,     0,   149,   150,    65,
      69,    68,     0,     0,    11,     0,   102,   100,    94,     0,
       0,   130,   116,     9,    46,     0,   132,     0,     0,     0,
     131,    48,   133
};

/* YYPGOTO[NTERM-NUM].  */
static const yytype_int16 yypgoto[] =
{
    -351,  -351,  -351,  -351,  -351,    14,   319,  -351,  -351,   -14,
    -351,   280,  -351,  -351,    28,  -351,  -330,  -351,  -351,  -351,
     315,  -351,    99,  -351,  -351,     7,  -351,    95,  -351,  -351,
    -279,   -89,   -32,  -351,   -33,  -351,  -351,  -351,   -42,  -351,
     -46,  -126,  -111,  -186,  -110,    38,  -351,  -351,  -351,  -350,
     231,    67,  -192,   157,  -351,  -351,   229,  -128,  -351,   104,
     135,    77,  -351,   -66,  -137,    89,    33,  -157,  -351,    -8,
    -351,  -351,   198,  -351,  -351
};

/* YYDEFGOTO[NTERM-NUM].  */
static const yytype_int16 yydefgoto[] =
{
       0,     1,     2,     7,     8,   187,    19,    47,   112,   116,
      60,    20,    21,    22,   353,   422,    91,    92,   151,   389,
     108,   183,   184,   382,   383,   188,   189,   190,   191,   393,
      98,    99,    56,   175,    82,   361,   398,   399,   400,    49,
      83,    84,    85,   139,   203,    13,    23,    54,   171,   172,
     241,   242,   243,   301,   302,   273,   173,   193,   194,   195,
     230,   231,   124,   119,   152,   153,   121,   122,   219,   123,
     146,   147,    87,    88,    89
};

/* YYTABLE[YYPACT[STATE-NUM]] -- What to do in state STATE-NUM.  If
   positive, shift that token.  If negative, reduce the rule whose
   number is the opposite.  If YYTABLE_NINF, syntax error.  */
static const yytype_int16 yytable[] =
{
      38,    39,    40,   199,    42,   125,   127,   174,   225,   300,
      61,   297,   345,   176,   299,   221,     9,   222,   235,   236,
     228,   223,   100,   396,   247,   249,   416,   -70,   157,    62,
      63,    64,    65,  -117,    81,    41,   346,    53,   317,   132,
      86,    97,   177,   102,   103,   104,   300,   237,   276,   307,
     308,   309,   310,   311,   155,   215,   377,     3,   312,   425,
     133,   162,   315,   100,   438,   275,   384,   197,   217,   200,
     156,   319,   394,   284,   320,   450,    12,     6,   206,   290,
     208,   168,    97,     6,   295,    12,    48,   224,    12,   215,
     455,   344,   443,   206,    10,    11,    55,   192,   348,    81,
     198,    81,   217,    12,   215,    86,    86,    86,    43,    44,
      12,   331,    57,   148,   426,   149,   412,   217,   198,    81,
      81,   182,   150,    58,    86,    86,    86,   324,   325,   336,
      45,   277,   379,   170,   192,   320,   233,    59,   226,   227,
     440,   441,   134,    90,   240,   240,   246,    93,   387,   168,
     446,   388,    94,   256,    46,   101,   367,   324,   327,   120,
     126,   126,   192,    81,   105,   279,   280,   402,   282,    86,
     404,   110,   107,   287,   106,   403,   111,   113,   114,   135,
     136,   137,   138,   126,   115,   341,   154,   240,   -24,   -24,
     178,   363,   285,   286,   -24,   181,   179,    14,   180,   185,
     196,   250,    -2,     4,   135,   136,   137,   138,   -16,   -16,
     -16,   326,   186,   370,    15,    16,    17,   -24,     6,    18,
     -24,   201,   202,   204,   240,   234,   220,   -16,   -16,   -16,
     -16,   328,   -16,   252,   253,   385,   274,   196,   232,   -25,
     -25,   100,     5,   192,   278,   -25,   338,   448,   281,   257,
     283,   258,   288,   289,   -16,   255,   333,   291,   260,   294,
      97,  -117,  -117,  -117,  -117,   196,   292,   117,   -25,     6,
     293,   -25,   128,   129,   130,   131,   433,   296,   298,   133,
     192,   304,   316,   313,   360,   330,     6,   332,   314,   432,
     318,   303,   322,   305,   306,   329,   335,   182,   423,   424,
     334,   342,   100,   142,   143,   144,   145,   439,   339,   343,
     240,   349,   100,   135,   136,   137,   138,   445,   100,   350,
     351,    97,   352,   321,   366,   362,   364,   365,   369,   427,
     372,    97,   198,   373,   376,   378,   380,    97,    86,   381,
     395,   409,   458,   414,   417,   397,   196,   232,   240,   418,
     419,   420,   421,   429,   100,   100,   431,   430,   434,   442,
     100,   454,   340,   140,   141,   142,   143,   144,   145,   375,
     435,   461,    95,    97,    97,   169,   452,   386,   109,    97,
     355,   356,   347,   196,   354,   358,   100,   100,    81,   447,
     244,   371,   251,   337,    86,   323,   100,   368,   357,   407,
       0,     0,   405,     0,   198,    97,    97,   245,     0,   232,
      86,     0,   413,     0,   415,    97,     0,   397,   374,    24,
      25,    26,    27,    28,    29,    30,    31,    32,    33,    34,
      35,    36,     0,     0,   428,     0,     0,     0,     0,     0,
       0,     0,     0,     0,     0,     0,     0,     0,   401,     0,
       0,     0,   437,   406,     0,     0,     0,     0,   408,     0,
       0,   410,   411,   444,     0,     0,     0,     0,     0,     0,
       0,     0,     0,     0,   451,     0,     0,     0,     0,    37,
       0,   453,     0,     0,   126,     0,     0,   456,     0,    66,
      67,    68,     0,     0,     0,   460,     0,   462,     0,     0,
       0,   436,     0,     0,     0,     0,    24,    25,    26,    27,
      28,    29,    30,    31,    32,    33,    34,    35,    36,    96,
     401,     0,     0,     0,   449,     0,    50,     0,     0,     0,
       0,   126,     0,   -16,   -16,   -16,   -16,   -16,   -16,   457,
     -16,   -16,   -16,   -16,   459,   -16,   -16,   -16,   -16,   -16,
     -16,   -16,   -16,   -16,   -16,   -16,   -16,   -16,   -16,     0,
       0,     0,   -16,    51,     0,    52,    37,     0,    66,    67,
      68,     0,   118,     0,     0,     0,     0,   -16,     0,     0,
      69,     0,     0,     0,     0,    24,    25,    26,    27,    28,
      29,    30,    31,    32,    33,    34,    35,    36,    70,     0,
      71,     0,     0,     0,     0,   -16,   229,     0,     0,     6,
       0,    73,    74,    75,     0,     0,   206,   207,   208,     0,
       0,    76,    77,   211,   212,   213,   214,   215,     0,     0,
       0,     0,    66,    67,    68,     0,   118,   248,     0,   216,
     217,   218,     0,     0,    69,    37,    78,    79,    80,    24,
      25,    26,    27,    28,    29,    30,    31,    32,    33,    34,
      35,    36,    70,     0,    71,     0,     0,     0,     0,     0,
      66,    67,    68,     0,   118,    73,    74,    75,     0,     0,
       0,     0,    69,     0,     0,    76,    77,    24,    25,    26,
      27,    28,    29,    30,    31,    32,    33,    34,    35,    36,
      70,     0,    71,     0,     0,     0,     0,   254,     0,    37,
      78,    79,    80,    73,    74,    75,     0,     0,   206,   207,
     208,     0,     0,    76,    77,  -118,  -118,  -118,  -118,   215,
       0,     0,     0,     0,    66,    67,    68,     0,   118,     0,
       0,  -118,   217,  -118,     0,     0,    69,    37,    78,    79,
      80,    24,    25,    26,    27,    28,    29,    30,    31,    32,
      33,    34,    35,    36,    70,     0,    71,     0,    12,     0,
       0,     0,    66,    67,    68,     0,     0,    73,    74,    75,
       0,     0,     0,     0,    69,     0,     0,    76,    77,    24,
      25,    26,    27,    28,    29,    30,    31,    32,    33,    34,
      35,    36,    70,     0,    71,     0,    72,     0,     0,     0,
       0,    37,    78,    79,    80,    73,    74,    75,     0,     0,
       0,     0,     0,     0,     0,    76,    77,     0,     0,     0,
       0,     0,     0,     0,     0,     0,    66,    67,    68,     0,
     118,     0,     0,     0,     0,     0,     0,     0,    69,    37,
      78,    79,    80,    24,    25,    26,    27,    28,    29,    30,
      31,    32,    33,    34,    35,    36,    70,     0,    71,     0,
       0,     0,     0,     0,    66,    67,    68,     0,     0,    73,
      74,    75,     0,     0,     0,     0,    69,     0,     0,    76,
      77,    24,    25,    26,    27,    28,    29,    30,    31,    32,
      33,    34,    35,    36,    70,     0,    71,     0,     0,     0,
       0,     0,     0,    37,    78,    79,    80,    73,    74,    75,
      66,    67,    68,     0,     0,     0,     0,    76,    77,     0,
       0,     0,     0,     0,     0,     0,   390,   391,   392,    26,
      27,    28,    29,    30,    31,    32,    33,    34,    35,    36,
       0,    37,    78,    79,    80,    66,    67,    68,     0,     0,
       0,     0,     0,     0,     0,     0,     0,     0,     0,     0,
       0,     0,    24,    25,    26,    27,    28,    29,    30,    31,
      32,    33,    34,    35,    36,     0,    14,   158,   159,   160,
     161,   162,     0,   163,   164,   165,   166,    37,    24,    25,
      26,    27,    28,    29,    30,    31,    32,   167,    34,    35,
      36,     0,     0,     0,     0,    12,    24,    25,    26,    27,
      28,    29,    30,    31,    32,    33,    34,    35,    36,   238,
      46,     0,    37,     0,     0,     0,     0,     0,     0,     0,
       0,     0,   239,    24,    25,    26,    27,    28,    29,    30,
      31,    32,    33,    34,    35,    36,     0,     0,    37,     0,
      12,     0,    24,    25,    26,    27,    28,    29,    30,    31,
      32,    33,    34,    35,    36,     0,    37,   359,    24,    25,
      26,    27,    28,    29,    30,    31,    32,    33,    34,    35,
      36,     0,     0,   257,     0,   258,     0,     0,     0,     0,
     259,     0,   260,    37,     0,     0,     0,     0,     0,     0,
       0,     0,     0,     0,     0,     0,     0,     0,     0,     0,
       0,     0,    37,     0,     0,   261,   262,   263,   264,   265,
     266,   267,   268,   269,   270,   271,   205,     0,    37,   272,
       0,     0,     0,     0,   206,   207,   208,     0,     0,   209,
     210,   211,   212,   213,   214,   215,     0,     0,     0,     0,
       0,     0,     0,     0,     0,     0,     0,   216,   217,   218,
     206,   207,   208,     0,     0,   209,     0,   211,   212,   213,
     214,   215,     0,     0,     0,     0,     0,     0,     0,     0,
       0,     0,     0,   216,   217,   218
};

static const yytype_int16 yycheck[] =
{
      14,    15,    16,   114,    18,    71,    72,    96,   134,   201,
      42,   197,    41,    33,   200,   125,     2,   127,   155,   156,
     148,   132,    55,   353,   161,   162,   376,    34,    94,    43,
      44,    45,    46,    34,    48,    83,    65,    23,   224,    41,
      48,    55,    62,    57,    58,    59,   238,   157,   176,   206,
     207,   208,   209,   210,    23,    64,   335,     0,   215,   389,
      62,    13,   219,    96,   414,   175,   345,   113,    77,   115,
      39,    36,   351,   183,    39,    24,    37,    84,    53,   189,
      55,    95,    96,    84,   194,    37,    62,   133,    37,    64,
      24,   277,   422,    53,    85,    86,    41,   111,   284,   113,
     114,   115,    77,    37,    64,   113,   114,   115,     6,     7,
      37,   248,    65,    33,   393,    35,    43,    77,   132,   133,
     134,   107,    42,    65,   132,   133,   134,    39,    40,   257,
      28,   177,    36,    95,   148,    39,   150,    31,   146,   147,
     419,   420,    39,    23,   158,   159,   160,    85,    41,   163,
     429,    44,    33,   167,    52,    65,   313,    39,    40,    70,
      71,    72,   176,   177,    40,   179,   180,    39,   182,   177,
     362,    33,    62,   187,    65,   361,    33,    62,    62,    76,
      77,    78,    79,    94,    62,   274,    40,   201,    33,    34,
     101,   301,   185,   186,    39,   106,    42,     8,    42,    33,
     111,   163,     0,     1,    76,    77,    78,    79,     6,     7,
       8,   243,    33,   323,    25,    26,    27,    62,    84,    30,
      65,    33,    39,    65,   238,    65,    36,    25,    26,    27,
      28,   245,    30,    40,    40,   346,    39,   148,   149,    33,
      34,   274,    40,   257,    40,    39,   260,   433,    40,    33,
      39,    35,    34,    39,    52,   166,    40,    65,    42,    39,
     274,    76,    77,    78,    79,   176,    41,    69,    62,    84,
      34,    65,    74,    75,    76,    77,   402,    65,    39,    62,
     294,    34,    38,    76,   298,   247,    84,   249,    65,   399,
      34,   202,    34,   204,   205,    19,    41,   283,   387,   388,
      40,    34,   335,    49,    50,    51,    52,   418,    78,    34,
     324,    34,   345,    76,    77,    78,    79,   427,   351,    34,
      41,   335,    32,   234,    41,    39,    34,    34,    65,   395,
      65,   345,   346,    19,    14,    34,    65,   351,   346,    40,
      35,    34,   452,    14,    40,   359,   257,   258,   362,    65,
      54,    54,    22,    41,   387,   388,    39,    36,    40,    35,
     393,    36,   273,    47,    48,    49,    50,    51,    52,   331,
      43,    36,    53,   387,   388,    95,   442,   349,    63,   393,
     291,   292,   283,   294,   289,   296,   419,   420,   402,   431,
     159,   324,   163,   258,   402,   238,   429,   320,   294,   366,
      -1,    -1,   364,    -1,   418,   419,   420,     8,    -1,   320,
     418,    -1,   374,    -1,   376,   429,    -1,   431,   329,    20,
      21,    22,    23,    24,    25,    26,    27,    28,    29,    30,
      31,    32,    -1,    -1,   396,    -1,    -1,    -1,    -1,    -1,
      -1,    -1,    -1,    -1,    -1,    -1,    -1,    -1,   359,    -1,
      -1,    -1,   414,   364,    -1,    -1,    -1,    -1,   369,    -1,
      -1,   372,   373,   425,    -1,    -1,    -1,    -1,    -1,    -1,
      -1,    -1,    -1,    -1,   436,    -1,    -1,    -1,    -1,    80,
      -1,   443,    -1,    -1,   395,    -1,    -1,   449,    -1,     3,
       4,     5,    -1,    -1,    -1,   457,    -1,   459,    -1,    -1,
      -1,   412,    -1,    -1,    -1,    -1,    20,    21,    22,    23,
      24,    25,    26,    27,    28,    29,    30,    31,    32,    33,
     431,    -1,    -1,    -1,   435,    -1,     1,    -1,    -1,    -1,
      -1,   442,    -1,     8,     9,    10,    11,    12,    13,   450,
      15,    16,    17,    18,   455,    20,    21,    22,    23,    24,
      25,    26,    27,    28,    29,    30,    31,    32,    33,    -1,
      -1,    -1,    37,    38,    -1,    40,    80,    -1,     3,     4,
       5,    -1,     7,    -1,    -1,    -1,    -1,    52,    -1,    -1,
      15,    -1,    -1,    -1,    -1,    20,    21,    22,    23,    24,
      25,    26,    27,    28,    29,    30,    31,    32,    33,    -1,
      35,    -1,    -1,    -1,    -1,    80,    41,    -1,    -1,    84,
      -1,    46,    47,    48,    -1,    -1,    53,    54,    55,    -1,
      -1,    56,    57,    60,    61,    62,    63,    64,    -1,    -1,
      -1,    -1,     3,     4,     5,    -1,     7,     8,    -1,    76,
      77,    78,    -1,    -1,    15,    80,    81,    82,    83,    20,
      21,    22,    23,    24,    25,    26,    27,    28,    29,    30,
      31,    32,    33,    -1,    35,    -1,    -1,    -1,    -1,    -1,
       3,     4,     5,    -1,     7,    46,    47,    48,    -1,    -1,
      -1,    -1,    15,    -1,    -1,    56,    57,    20,    21,    22,
      23,    24,    25,    26,    27,    28,    29,    30,    31,    32,
      33,    -1,    35,    -1,    -1,    -1,    -1,    40,    -1,    80,
      81,    82,    83,    46,    47,    48,    -1,    -1,    53,    54,
      55,    -1,    -1,    56,    57,    60,    61,    62,    63,    64,
      -1,    -1,    -1,    -1,     3,     4,     5,    -1,     7,    -1,
      -1,    76,    77,    78,    -1,    -1,    15,    80,    81,    82,
      83,    20,    21,    22,    23,    24,    25,    26,    27,    28,
      29,    30,    31,    32,    33,    -1,    35,    -1,    37,    -1,
      -1,    -1,     3,     4,     5,    -1,    -1,    46,    47,    48,
      -1,    -1,    -1,    -1,    15,    -1,    -1,    56,    57,    20,
      21,    22,    23,    24,    25,    26,    27,    28,    29,    30,
      31,    32,    33,    -1,    35,    -1,    37,    -1,    -1,    -1,
      -1,    80,    81,    82,    83,    46,    47,    48,    -1,    -1,
      -1,    -1,    -1,    -1,    -1,    56,    57,    -1,    -1,    -1,
      -1,    -1,    -1,    -1,    -1,    -1,     3,     4,     5,    -1,
       7,    -1,    -1,    -1,    -1,    -1,    -1,    -1,    15,    80,
      81,    82,    83,    20,    21,    22,    23,    24,    25,    26,
      27,    28,    29,    30,    31,    32,    33,    -1,    35,    -1,
      -1,    -1,    -1,    -1,     3,     4,     5,    -1,    -1,    46,
      47,    48,    -1,    -1,    -1,    -1,    15,    -1,    -1,    56,
      57,    20,    21,    22,    23,    24,    25,    26,    27,    28,
      29,    30,    31,    32,    33,    -1,    35,    -1,    -1,    -1,
      -1,    -1,    -1,    80,    81,    82,    83,    46,    47,    48,
       3,     4,     5,    -1,    -1,    -1,    -1,    56,    57,    -1,
      -1,    -1,    -1,    -1,    -1,    -1,    19,    20,    21,    22,
      23,    24,    25,    26,    27,    28,    29,    30,    31,    32,
      -1,    80,    81,    82,    83,     3,     4,     5,    -1,    -1,
      -1,    -1,    -1,    -1,    -1,    -1,    -1,    -1,    -1,    -1,
      -1,    -1,    20,    21,    22,    23,    24,    25,    26,    27,
      28,    29,    30,    31,    32,    -1,     8,     9,    10,    11,
      12,    13,    -1,    15,    16,    17,    18,    80,    20,    21,
      22,    23,    24,    25,    26,    27,    28,    29,    30,    31,
      32,    -1,    -1,    -1,    -1,    37,    20,    21,    22,    23,
      24,    25,    26,    27,    28,    29,    30,    31,    32,    33,
      52,    -1,    80,    -1,    -1,    -1,    -1,    -1,    -1,    -1,
      -1,    -1,    46,    20,    21,    22,    23,    24,    25,    26,
      27,    28,    29,    30,    31,    32,    -1,    -1,    80,    -1,
      37,    -1,    20,    21,    22,    23,    24,    25,    26,    27,
      28,    29,    30,    31,    32,    -1,    80,    35,    20,    21,
      22,    23,    24,    25,    26,    27,    28,    29,    30,    31,
      32,    -1,    -1,    33,    -1,    35,    -1,    -1,    -1,    -1,
      40,    -1,    42,    80,    -1,    -1,    -1,    -1,    -1,    -1,
      -1,    -1,    -1,    -1,    -1,    -1,    -1,    -1,    -1,    -1,
      -1,    -1,    80,    -1,    -1,    65,    66,    67,    68,    69,
      70,    71,    72,    73,    74,    75,    45,    -1,    80,    79,
      -1,    -1,    -1,    -1,    53,    54,    55,    -1,    -1,    58,
      59,    60,    61,    62,    63,    64,    -1,    -1,    -1,    -1,
      -1,    -1,    -1,    -1,    -1,    -1,    -1,    76,    77,    78,
      53,    54,    55,    -1,    -1,    58,    -1,    60,    61,    62,
      63,    64,    -1,    -1,    -1,    -1,    -1,    -1,    -1,    -1,
      -1,    -1,    -1,    76,    77,    78
};

/* YYSTOS[STATE-NUM] -- The symbol kind of the accessing symbol of
   state STATE-NUM.  */
static const yytype_uint8 yystos[] =
{
       0,    88,    89,     0,     1,    40,    84,    90,    91,    92,
      85,    86,    37,   132,     8,    25,    26,    27,    30,    93,
      98,    99,   100,   133,    20,    21,    22,    23,    24,    25,
      26,    27,    28,    29,    30,    31,    32,    80,    96,    96,
      96,    83,    96,     6,     7,    28,    52,    94,    62,   126,
       1,    38,    40,    92,   134,    41,   119,    65,    65,    31,
      97,   119,    96,    96,    96,    96,     3,     4,     5,    15,
      33,    35,    37,    46,    47,    48,    56,    57,    81,    82,
      83,    96,   121,   127,   128,   129,   156,   159,   160,   161,
      23,   103,   104,    85,    33,    93,    33,    96,   117,   118,
     121,    65,    96,    96,    96,    40,    65,    62,   107,   107,
      33,    33,    95,    62,    62,    62,    96,   159,     7,   150,
     152,   153,   154,   156,   149,   150,   152,   150,   159,   159,
     159,   159,    41,    62,    39,    76,    77,    78,    79,   130,
      47,    48,    49,    50,    51,    52,   157,   158,    33,    35,
      42,   105,   151,   152,    40,    23,    39,   150,     9,    10,
      11,    12,    13,    15,    16,    17,    18,    29,    96,    98,
     132,   135,   136,   143,   118,   120,    33,    62,   152,    42,
      42,   152,    92,   108,   109,    33,    33,    92,   112,   113,
     114,   115,    96,   144,   145,   146,   152,   127,    96,   129,
     127,    33,    39,   131,    65,    45,    53,    54,    55,    58,
      59,    60,    61,    62,    63,    64,    76,    77,    78,   155,
      36,   131,   131,   129,   127,   128,   156,   156,   144,    41,
     147,   148,   152,    96,    65,   151,   151,   131,    33,    46,
      96,   137,   138,   139,   137,     8,    96,   151,     8,   151,
     132,   143,    40,    40,    40,   152,    96,    33,    35,    40,
      42,    65,    66,    67,    68,    69,    70,    71,    72,    73,
      74,    75,    79,   142,    39,   131,   144,   127,    40,    96,
      96,    40,    96,    39,   131,   112,   112,    96,    34,    39,
     131,    65,    41,    34,    39,   131,    65,   130,    39,   130,
     139,   140,   141,   152,    34,   152,   152,   154,   154,   154,
     154,   154,   154,    76,    65,   154,    38,   130,    34,    36,
      39,   152,    34,   140,    39,    40,   119,    40,    96,    19,
     132,   151,   132,    40,    40,    41,   144,   147,    96,    78,
     152,   118,    34,    34,   130,    41,    65,   109,   130,    34,
      34,    41,    32,   101,   114,   152,   152,   146,   152,    35,
      96,   122,    39,   131,    34,    34,    41,   154,   148,    65,
     131,   138,    65,    19,   152,   132,    14,   117,    34,    36,
      65,    40,   110,   111,   117,   129,   101,    41,    44,   106,
      19,    20,    21,   116,   117,    35,   103,    96,   123,   124,
     125,   152,    39,   130,   139,   132,   152,   153,   152,    34,
     152,   152,    43,   132,    14,   132,   136,    40,    65,    54,
      54,    22,   102,   118,   118,   103,   117,   150,   132,    41,
      36,    39,   131,   128,    40,    43,   152,   132,   136,   129,
     117,   117,    35,   103,   132,   131,   117,   125,   130,   152,
      24,   132,   150,   132,    36,    24,   132,   152,   131,   152,
     132,    36,   132
};

/* YYR1[RULE-NUM] -- Symbol kind of the left-hand side of rule RULE-NUM.  */
static const yytype_uint8 yyr1[] =
{
       0,    87,    88,    89,    89,    90,    90,    90,    90,    90,
      90,    90,    90,    90,    90,    91,    92,    92,    93,    93,
      94,    95,    95,    96,    96,    96,    96,    96,    96,    96,
      96,    96,    96,    96,    96,    96,    96,    97,    97,    98,
      99,   100,   100,   100,   100,   101,   101,   102,   102,   103,
     103,   104,   104,   104,   105,   106,   106,   106,   107,   107,
     108,   108,   109,   109,   109,   109,   110,   110,   111,   111,
     112,   112,   113,   113,   114,   114,   115,   115,   116,   116,
     116,   117,   117,   117,   117,   118,   118,   119,   119,   120,
     120,   121,   121,   121,   121,   122,   122,   123,   123,   124,
     124,   125,   125,   126,   126,   127,   127,   128,   128,   129,
     129,   129,   130,   130,   130,   130,   131,   131,   132,   133,
     133,   133,   134,   134,   134,   135,   135,   135,   135,   135,
     135,   135,   135,   135,   135,   135,   135,   135,   135,   135,
     135,   135,   135,   135,   135,   136,   136,   136,   136,   136,
     136,   137,   137,   138,   138,   139,   139,   139,   140,   140,
     141,   141,   142,   142,   142,   142,   142,   142,   142,   142,
     142,   142,   142,   142,   143,   143,   143,   143,   144,   144,
     145,   145,   146,   146,   146,   147,   147,   148,   148,   149,
     149,   150,   150,   151,   151,   152,   152,   152,   153,   153,
     154,   154,   154,   154,   154,   154,   154,   154,   154,   155,
     155,   155,   155,   155,   155,   156,   156,   156,   157,   157,
     158,   158,   158,   158,   159,   159,   159,   159,   159,   159,
     160,   160,   160,   160,   161,   161,   161,   161,   161,   161,
     161,   161,   161
};

/* YYR2[RULE-NUM] -- Number of symbols on the right-hand side of rule RULE-NUM.  */
static const yytype_int8 yyr2[] =
{
       0,     2,     1,     0,     2,     5,     7,     2,     2,    12,
      10,    11,     1,     2,     2,     2,     0,     1,     0,     2,
       3,     0,     3,     1,     1,     1,     1,     1,     1,     1,
       1,     1,     1,     1,     1,     1,     1,     0,     2,     6,
       4,     4,     6,     4,     6,     0,     5,     0,     5,     0,
       1,     2,     3,     3,     1,     0,     2,     2,     0,     4,
       1,     3,     2,     4,     4,     6,     1,     1,     3,     3,
       0,     2,     1,     3,     1,     3,     4,     5,     1,     1,
       1,     1,     1,     4,     4,     1,     4,     0,     2,     1,
       3,     4,     4,     6,     8,     3,     1,     0,     2,     1,
       3,     1,     3,     0,     3,     1,     3,     1,     3,     1,
       4,     4,     1,     1,     1,     1,     0,     1,     3,     0,
       2,     2,     3,     8,     2,     3,     3,     2,     3,     4,
       7,     9,     8,    10,     5,     3,     1,     2,     2,     2,
       3,     5,     2,     1,     1,     3,     5,     5,     4,     6,
       6,     1,     3,     4,     2,     1,     1,     4,     1,     3,
       0,     2,     1,     1,     1,     1,     1,     1,     1,     1,
       1,     1,     1,     3,     1,     3,     4,     4,     0,     2,
       1,     3,     1,     3,     3,     1,     3,     1,     1,     0,
       2,     1,     3,     1,     3,     1,     5,     5,     1,     5,
       1,     3,     3,     3,     3,     3,     3,     3,     4,     1,
       1,     1,     1,     1,     2,     1,     3,     3,     1,     1,
       1,     1,     1,     1,     1,     2,     2,     2,     2,     2,
       1,     3,     4,     4,     1,     1,     1,     1,     1,     1,
       3,     4,     5
};


enum { YYENOMEM = -2 };

#define yyerrok         (yyerrstatus = 0)
#define yyclearin       (yychar = TOK_TILE_YYEMPTY)

#define YYACCEPT        goto yyacceptlab
#define YYABORT         goto yyabortlab
#define YYERROR         goto yyerrorlab
#define YYNOMEM         goto yyexhaustedlab


#define YYRECOVERING()  (!!yyerrstatus)

#define YYBACKUP(Token, Value)                                    \
  do                                                              \
    if (yychar == TOK_TILE_YYEMPTY)                                        \
      {                                                           \
        yychar = (Token);                                         \
        yylval = (Value);                                         \
        YYPOPSTACK (yylen);                                       \
        yystate = *yyssp;                                         \
        YY_LAC_DISCARD ("YYBACKUP");                              \
        goto yybackup;                                            \
      }                                                           \
    else                                                          \
      {                                                           \
        yyerror (&yylloc, g, YY_("syntax error: cannot back up")); \
        YYERROR;                                                  \
      }                                                           \
  while (0)

/* Backward compatibility with an undocumented macro.
   Use TOK_TILE_YYerror or TOK_TILE_YYUNDEF. */
#define YYERRCODE TOK_TILE_YYUNDEF

/* YYLLOC_DEFAULT -- Set CURRENT to span from RHS[1] to RHS[N].
   If N is 0, then set CURRENT to the empty location which ends
   the previous symbol: RHS[0] (always defined).  */

#ifndef YYLLOC_DEFAULT
# define YYLLOC_DEFAULT(Current, Rhs, N)                                \
    do                                                                  \
      if (N)                                                            \
        {                                                               \
          (Current).first_line   = YYRHSLOC (Rhs, 1).first_line;        \
          (Current).first_column = YYRHSLOC (Rhs, 1).first_column;      \
          (Current).last_line    = YYRHSLOC (Rhs, N).last_line;         \
          (Current).last_column  = YYRHSLOC (Rhs, N).last_column;       \
        }                                                               \
      else                                                              \
        {                                                               \
          (Current).first_line   = (Current).last_line   =              \
            YYRHSLOC (Rhs, 0).last_line;                                \
          (Current).first_column = (Current).last_column =              \
            YYRHSLOC (Rhs, 0).last_column;                              \
        }                                                               \
    while (0)
#endif

#define YYRHSLOC(Rhs, K) ((Rhs)[K])


/* Enable debugging if requested.  */
#if TILE_YYDEBUG

# ifndef YYFPRINTF
#  include <stdio.h> /* INFRINGES ON USER NAME SPACE */
#  define YYFPRINTF fprintf
# endif

# define YYDPRINTF(Args)                        \
do {                                            \
  if (yydebug)                                  \
    YYFPRINTF Args;                             \
} while (0)


/* YYLOCATION_PRINT -- Print the location on the stream.
   This macro was not mandated originally: define only if we know
   we won't break user code: when these are the locations we know.  */

# ifndef YYLOCATION_PRINT

#  if defined YY_LOCATION_PRINT

   /* Temporary convenience wrapper in case some people defined the
      undocumented and private YY_LOCATION_PRINT macros.  */
#   define YYLOCATION_PRINT(File, Loc)  YY_LOCATION_PRINT(File, *(Loc))

#  elif defined TILE_YYLTYPE_IS_TRIVIAL && TILE_YYLTYPE_IS_TRIVIAL

/* Print *YYLOCP on YYO.  Private, do not rely on its existence. */

YY_ATTRIBUTE_UNUSED
static int
yy_location_print_ (FILE *yyo, YYLTYPE const * const yylocp)
{
  int res = 0;
  int end_col = 0 != yylocp->last_column ? yylocp->last_column - 1 : 0;
  if (0 <= yylocp->first_line)
    {
      res += YYFPRINTF (yyo, "%d", yylocp->first_line);
      if (0 <= yylocp->first_column)
        res += YYFPRINTF (yyo, ".%d", yylocp->first_column);
    }
  if (0 <= yylocp->last_line)
    {
      if (yylocp->first_line < yylocp->last_line)
        {
          res += YYFPRINTF (yyo, "-%d", yylocp->last_line);
          if (0 <= end_col)
            res += YYFPRINTF (yyo, ".%d", end_col);
        }
      else if (0 <= end_col && yylocp->first_column < end_col)
        res += YYFPRINTF (yyo, "-%d", end_col);
    }
  return res;
}

#   define YYLOCATION_PRINT  yy_location_print_

    /* Temporary convenience wrapper in case some people defined the
       undocumented and private YY_LOCATION_PRINT macros.  */
#   define YY_LOCATION_PRINT(File, Loc)  YYLOCATION_PRINT(File, &(Loc))

#  else

#   define YYLOCATION_PRINT(File, Loc) ((void) 0)
    /* Temporary convenience wrapper in case some people defined the
       undocumented and private YY_LOCATION_PRINT macros.  */
#   define YY_LOCATION_PRINT  YYLOCATION_PRINT

#  endif
# endif /* !defined YYLOCATION_PRINT */


# define YY_SYMBOL_PRINT(Title, Kind, Value, Location)                    \
do {                                                                      \
  if (yydebug)                                                            \
    {                                                                     \
      YYFPRINTF (stderr, "%s ", Title);                                   \
      yy_symbol_print (stderr,                                            \
                  Kind, Value, Location, g); \
      YYFPRINTF (stderr, "\n");                                           \
    }                                                                     \
} while (0)


/*-----------------------------------.
| Print this symbol's value on YYO.  |
`-----------------------------------*/

static void
yy_symbol_value_print (FILE *yyo,
                       yysymbol_kind_t yykind, YYSTYPE const * const yyvaluep, YYLTYPE const * const yylocationp, Gram *g)
{
  FILE *yyoutput = yyo;
  YY_USE (yyoutput);
  YY_USE (yylocationp);
  YY_USE (g);
  if (!yyvaluep)
    return;
  YY_IGNORE_MAYBE_UNINITIALIZED_BEGIN
  YY_USE (yykind);
  YY_IGNORE_MAYBE_UNINITIALIZED_END
}


/*---------------------------.
| Print this symbol on YYO.  |
`---------------------------*/

static void
yy_symbol_print (FILE *yyo,
                 yysymbol_kind_t yykind, YYSTYPE const * const yyvaluep, YYLTYPE const * const yylocationp, Gram *g)
{
  YYFPRINTF (yyo, "%s %s (",
             yykind < YYNTOKENS ? "token" : "nterm", yysymbol_name (yykind));

  YYLOCATION_PRINT (yyo, yylocationp);
  YYFPRINTF (yyo, ": ");
  yy_symbol_value_print (yyo, yykind, yyvaluep, yylocationp, g);
  YYFPRINTF (yyo, ")");
}

/*------------------------------------------------------------------.
| yy_stack_print -- Print the state stack from its BOTTOM up to its |
| TOP (included).                                                   |
`------------------------------------------------------------------*/

static void
yy_stack_print (yy_state_t *yybottom, yy_state_t *yytop)
{
  YYFPRINTF (stderr, "Stack now");
  for (; yybottom <= yytop; yybottom++)
    {
      int yybot = *yybottom;
      YYFPRINTF (stderr, " %d", yybot);
    }
  YYFPRINTF (stderr, "\n");
}

# define YY_STACK_PRINT(Bottom, Top)                            \
do {                                                            \
  if (yydebug)                                                  \
    yy_stack_print ((Bottom), (Top));                           \
} while (0)


/*------------------------------------------------.
| Report that the YYRULE is going to be reduced.  |
`------------------------------------------------*/

static void
yy_reduce_print (yy_state_t *yyssp, YYSTYPE *yyvsp, YYLTYPE *yylsp,
                 int yyrule, Gram *g)
{
  int yylno = yyrline[yyrule];
  int yynrhs = yyr2[yyrule];
  int yyi;
  YYFPRINTF (stderr, "Reducing stack by rule %d (line %d):\n",
             yyrule - 1, yylno);
  /* The symbols being reduced.  */
  for (yyi = 0; yyi < yynrhs; yyi++)
    {
      YYFPRINTF (stderr, "   $%d = ", yyi + 1);
      yy_symbol_print (stderr,
                       YY_ACCESSING_SYMBOL (+yyssp[yyi + 1 - yynrhs]),
                       &yyvsp[(yyi + 1) - (yynrhs)],
                       &(yylsp[(yyi + 1) - (yynrhs)]), g);
      YYFPRINTF (stderr, "\n");
    }
}

# define YY_REDUCE_PRINT(Rule)          \
do {                                    \
  if (yydebug)                          \
    yy_reduce_print (yyssp, yyvsp, yylsp, Rule, g); \
} while (0)

/* Nonzero means print parse trace.  It is left uninitialized so that
   multiple parsers can coexist.  */
int yydebug;
#else /* !TILE_YYDEBUG */
# define YYDPRINTF(Args) ((void) 0)
# define YY_SYMBOL_PRINT(Title, Kind, Value, Location)
# define YY_STACK_PRINT(Bottom, Top)
# define YY_REDUCE_PRINT(Rule)
#endif /* !TILE_YYDEBUG */


/* YYINITDEPTH -- initial size of the parser's stacks.  */
#ifndef YYINITDEPTH
# define YYINITDEPTH 200
#endif

/* YYMAXDEPTH -- maximum size the stacks can grow to (effective only
   if the built-in stack extension method is used).

   Do not make this value too large; the results are undefined if
   YYSTACK_ALLOC_MAXIMUM < YYSTACK_BYTES (YYMAXDEPTH)
   evaluated with infinite-precision integer arithmetic.  */

#ifndef YYMAXDEPTH
# define YYMAXDEPTH 10000
#endif


/* Given a state stack such that *YYBOTTOM is its bottom, such that
   *YYTOP is either its top or is YYTOP_EMPTY to indicate an empty
   stack, and such that *YYCAPACITY is the maximum number of elements it
   can hold without a reallocation, make sure there is enough room to
   store YYADD more elements.  If not, allocate a new stack using
   YYSTACK_ALLOC, copy the existing elements, and adjust *YYBOTTOM,
   *YYTOP, and *YYCAPACITY to reflect the new capacity and memory
   location.  If *YYBOTTOM != YYBOTTOM_NO_FREE, then free the old stack
   using YYSTACK_FREE.  Return 0 if successful or if no reallocation is
   required.  Return YYENOMEM if memory is exhausted.  */
static int
yy_lac_stack_realloc (YYPTRDIFF_T *yycapacity, YYPTRDIFF_T yyadd,
#if TILE_YYDEBUG
                      char const *yydebug_prefix,
                      char const *yydebug_suffix,
#endif
                      yy_state_t **yybottom,
                      yy_state_t *yybottom_no_free,
                      yy_state_t **yytop, yy_state_t *yytop_empty)
{
  YYPTRDIFF_T yysize_old =
    *yytop == yytop_empty ? 0 : *yytop - *yybottom + 1;
  YYPTRDIFF_T yysize_new = yysize_old + yyadd;
  if (*yycapacity < yysize_new)
    {
      YYPTRDIFF_T yyalloc = 2 * yysize_new;
      yy_state_t *yybottom_new;
      /* Use YYMAXDEPTH for maximum stack size given that the stack
         should never need to grow larger than the main state stack
         needs to grow without LAC.  */
      if (YYMAXDEPTH < yysize_new)
        {
          YYDPRINTF ((stderr, "%smax size exceeded%s", yydebug_prefix,
                      yydebug_suffix));
          return YYENOMEM;
        }
      if (YYMAXDEPTH < yyalloc)
        yyalloc = YYMAXDEPTH;
      yybottom_new =
        YY_CAST (yy_state_t *,
                 YYSTACK_ALLOC (YY_CAST (YYSIZE_T,
                                         yyalloc * YYSIZEOF (*yybottom_new))));
      if (!yybottom_new)
        {
          YYDPRINTF ((stderr, "%srealloc failed%s", yydebug_prefix,
                      yydebug_suffix));
          return YYENOMEM;
        }
      if (*yytop != yytop_empty)
        {
          YYCOPY (yybottom_new, *yybottom, yysize_old);
          *yytop = yybottom_new + (yysize_old - 1);
        }
      if (*yybottom != yybottom_no_free)
        YYSTACK_FREE (*yybottom);
      *yybottom = yybottom_new;
      *yycapacity = yyalloc;
    }
  return 0;
}

/* Establish the initial context for the current lookahead if no initial
   context is currently established.

   We define a context as a snapshot of the parser stacks.  We define
   the initial context for a lookahead as the context in which the
   parser initially examines that lookahead in order to select a
   syntactic action.  Thus, if the lookahead eventually proves
   syntactically unacceptable (possibly in a later context reached via a
   series of reductions), the initial context can be used to determine
   the exact set of tokens that would be syntactically acceptable in the
   lookahead's place.  Moreover, it is the context after which any
   further semantic actions would be erroneous because they would be
   determined by a syntactically unacceptable token.

   YY_LAC_ESTABLISH should be invoked when a reduction is about to be
   performed in an inconsistent state (which, for the purposes of LAC,
   includes consistent states that don't know they're consistent because
   their default reductions have been disabled).  Iff there is a
   lookahead token, it should also be invoked before reporting a syntax
   error.  This latter case is for the sake of the debugging output.

   For parse.lac=full, the implementation of YY_LAC_ESTABLISH is as
   follows.  If no initial context is currently established for the
   current lookahead, then check if that lookahead can eventually be
   shifted if syntactic actions continue from the current context.
   Report a syntax error if it cannot.  */
#define YY_LAC_ESTABLISH                                                \
do {                                                                    \
  if (!yy_lac_established)                                              \
    {                                                                   \
      YYDPRINTF ((stderr,                                               \
                  "LAC: initial context established for %s\n",          \
                  yysymbol_name (yytoken)));                            \
      yy_lac_established = 1;                                           \
      switch (yy_lac (yyesa, &yyes, &yyes_capacity, yyssp, yytoken))    \
        {                                                               \
        case YYENOMEM:                                                  \
          YYNOMEM;                                                      \
        case 1:                                                         \
          goto yyerrlab;                                                \
        }                                                               \
    }                                                                   \
} while (0)

/* Discard any previous initial lookahead context because of Event,
   which may be a lookahead change or an invalidation of the currently
   established initial context for the current lookahead.

   The most common example of a lookahead change is a shift.  An example
   of both cases is syntax error recovery.  That is, a syntax error
   occurs when the lookahead is syntactically erroneous for the
   currently established initial context, so error recovery manipulates
   the parser stacks to try to find a new initial context in which the
   current lookahead is syntactically acceptable.  If it fails to find
   such a context, it discards the lookahead.  */
#if TILE_YYDEBUG
# define YY_LAC_DISCARD(Event)                                           \
do {                                                                     \
  if (yy_lac_established)                                                \
    {                                                                    \
      YYDPRINTF ((stderr, "LAC: initial context discarded due to "       \
                  Event "\n"));                                          \
      yy_lac_established = 0;                                            \
    }                                                                    \
} while (0)
#else
# define YY_LAC_DISCARD(Event) yy_lac_established = 0
#endif

/* Given the stack whose top is *YYSSP, return 0 iff YYTOKEN can
   eventually (after perhaps some reductions) be shifted, return 1 if
   not, or return YYENOMEM if memory is exhausted.  As preconditions and
   postconditions: *YYES_CAPACITY is the allocated size of the array to
   which *YYES points, and either *YYES = YYESA or *YYES points to an
   array allocated with YYSTACK_ALLOC.  yy_lac may overwrite the
   contents of either array, alter *YYES and *YYES_CAPACITY, and free
   any old *YYES other than YYESA.  */
static int
yy_lac (yy_state_t *yyesa, yy_state_t **yyes,
        YYPTRDIFF_T *yyes_capacity, yy_state_t *yyssp, yysymbol_kind_t yytoken)
{
  yy_state_t *yyes_prev = yyssp;
  yy_state_t *yyesp = yyes_prev;
  /* Reduce until we encounter a shift and thereby accept the token.  */
  YYDPRINTF ((stderr, "LAC: checking lookahead %s:", yysymbol_name (yytoken)));
  if (yytoken == YYSYMBOL_YYUNDEF)
    {
      YYDPRINTF ((stderr, " Always Err\n"));
      return 1;
    }
  while (1)
    {
      int yyrule = yypact[+*yyesp];
      if (yypact_value_is_default (yyrule)
          || (yyrule += yytoken) < 0 || YYLAST < yyrule
          || yycheck[yyrule] != yytoken)
        {
          /* Use the default action.  */
          yyrule = yydefact[+*yyesp];
          if (yyrule == 0)
            {
              YYDPRINTF ((stderr, " Err\n"));
              return 1;
            }
        }
      else
        {
          /* Use the action from yytable.  */
          yyrule = yytable[yyrule];
          if (yytable_value_is_error (yyrule))
            {
              YYDPRINTF ((stderr, " Err\n"));
              return 1;
            }
          if (0 < yyrule)
            {
              YYDPRINTF ((stderr, " S%d\n", yyrule));
              return 0;
            }
          yyrule = -yyrule;
        }
      /* By now we know we have to simulate a reduce.  */
      YYDPRINTF ((stderr, " R%d", yyrule - 1));
      {
        /* Pop the corresponding number of values from the stack.  */
        YYPTRDIFF_T yylen = yyr2[yyrule];
        /* First pop from the LAC stack as many tokens as possible.  */
        if (yyesp != yyes_prev)
          {
            YYPTRDIFF_T yysize = yyesp - *yyes + 1;
            if (yylen < yysize)
              {
                yyesp -= yylen;
                yylen = 0;
              }
            else
              {
                yyesp = yyes_prev;
                yylen -= yysize;
              }
          }
        /* Only afterwards look at the main stack.  */
        if (yylen)
          yyesp = yyes_prev -= yylen;
      }
      /* Push the resulting state of the reduction.  */
      {
        yy_state_fast_t yystate;
        {
          const int yylhs = yyr1[yyrule] - YYNTOKENS;
          const int yyi = yypgoto[yylhs] + *yyesp;
          yystate = (0 <= yyi && yyi <= YYLAST && yycheck[yyi] == *yyesp
                     ? yytable[yyi]
                     : yydefgoto[yylhs]);
        }
        if (yyesp == yyes_prev)
          {
            yyesp = *yyes;
            YY_IGNORE_USELESS_CAST_BEGIN
            *yyesp = YY_CAST (yy_state_t, yystate);
            YY_IGNORE_USELESS_CAST_END
          }
        else
          {
            if (yy_lac_stack_realloc (yyes_capacity, 1,
#if TILE_YYDEBUG
                                      " (", ")",
#endif
                                      yyes, yyesa, &yyesp, yyes_prev))
              {
                YYDPRINTF ((stderr, "\n"));
                return YYENOMEM;
              }
            YY_IGNORE_USELESS_CAST_BEGIN
            *++yyesp = YY_CAST (yy_state_t, yystate);
            YY_IGNORE_USELESS_CAST_END
          }
        YYDPRINTF ((stderr, " G%d", yystate));
      }
    }
}

/* Context of a parse error.  */
typedef struct
{
  yy_state_t *yyssp;
  yy_state_t *yyesa;
  yy_state_t **yyes;
  YYPTRDIFF_T *yyes_capacity;
  yysymbol_kind_t yytoken;
  YYLTYPE *yylloc;
} yypcontext_t;

/* Put in YYARG at most YYARGN of the expected tokens given the
   current YYCTX, and return the number of tokens stored in YYARG.  If
   YYARG is null, return the number of expected tokens (guaranteed to
   be less than YYNTOKENS).  Return YYENOMEM on memory exhaustion.
   Return 0 if there are more than YYARGN expected tokens, yet fill
   YYARG up to YYARGN. */
static int
yypcontext_expected_tokens (const yypcontext_t *yyctx,
                            yysymbol_kind_t yyarg[], int yyargn)
{
  /* Actual size of YYARG. */
  int yycount = 0;

  int yyx;
  for (yyx = 0; yyx < YYNTOKENS; ++yyx)
    {
      yysymbol_kind_t yysym = YY_CAST (yysymbol_kind_t, yyx);
      if (yysym != YYSYMBOL_YYerror && yysym != YYSYMBOL_YYUNDEF)
        switch (yy_lac (yyctx->yyesa, yyctx->yyes, yyctx->yyes_capacity, yyctx->yyssp, yysym))
          {
          case YYENOMEM:
            return YYENOMEM;
          case 1:
            continue;
          default:
            if (!yyarg)
              ++yycount;
            else if (yycount == yyargn)
              return 0;
            else
              yyarg[yycount++] = yysym;
          }
    }
  if (yyarg && yycount == 0 && 0 < yyargn)
    yyarg[0] = YYSYMBOL_YYEMPTY;
  return yycount;
}




/* The kind of the lookahead of this context.  */
static yysymbol_kind_t
yypcontext_token (const yypcontext_t *yyctx) YY_ATTRIBUTE_UNUSED;

static yysymbol_kind_t
yypcontext_token (const yypcontext_t *yyctx)
{
  return yyctx->yytoken;
}

/* The location of the lookahead of this context.  */
static YYLTYPE *
yypcontext_location (const yypcontext_t *yyctx) YY_ATTRIBUTE_UNUSED;

static YYLTYPE *
yypcontext_location (const yypcontext_t *yyctx)
{
  return yyctx->yylloc;
}

/* User defined function to report a syntax error.  */
static int
yyreport_syntax_error (const yypcontext_t *yyctx, Gram *g);

/*-----------------------------------------------.
| Release the memory associated to this symbol.  |
`-----------------------------------------------*/

static void
yydestruct (const char *yymsg,
            yysymbol_kind_t yykind, YYSTYPE *yyvaluep, YYLTYPE *yylocationp, Gram *g)
{
  YY_USE (yyvaluep);
  YY_USE (yylocationp);
  YY_USE (g);
  if (!yymsg)
    yymsg = "Deleting";
  YY_SYMBOL_PRINT (yymsg, yykind, yyvaluep, yylocationp);

  YY_IGNORE_MAYBE_UNINITIALIZED_BEGIN
  YY_USE (yykind);
  YY_IGNORE_MAYBE_UNINITIALIZED_END
}






/*----------.
| yyparse.  |
`----------*/

int
yyparse (Gram *g)
{
/* Lookahead token kind.  */
int yychar;


/* The semantic value of the lookahead symbol.  */
/* Default value used for initialization, for pacifying older GCCs
   or non-GCC compilers.  */
YY_INITIAL_VALUE (static YYSTYPE yyval_default;)
YYSTYPE yylval YY_INITIAL_VALUE (= yyval_default);

/* Location data for the lookahead symbol.  */
static YYLTYPE yyloc_default
# if defined TILE_YYLTYPE_IS_TRIVIAL && TILE_YYLTYPE_IS_TRIVIAL
  = { 1, 1, 1, 1 }
# endif
;
YYLTYPE yylloc = yyloc_default;

    /* Number of syntax errors so far.  */
    int yynerrs = 0;

    yy_state_fast_t yystate = 0;
    /* Number of tokens to shift before error messages enabled.  */
    int yyerrstatus = 0;

    /* Refer to the stacks through separate pointers, to allow yyoverflow
       to reallocate them elsewhere.  */

    /* Their size.  */
    YYPTRDIFF_T yystacksize = YYINITDEPTH;

    /* The state stack: array, bottom, top.  */
    yy_state_t yyssa[YYINITDEPTH];
    yy_state_t *yyss = yyssa;
    yy_state_t *yyssp = yyss;

    /* The semantic value stack: array, bottom, top.  */
    YYSTYPE yyvsa[YYINITDEPTH];
    YYSTYPE *yyvs = yyvsa;
    YYSTYPE *yyvsp = yyvs;

    /* The location stack: array, bottom, top.  */
    YYLTYPE yylsa[YYINITDEPTH];
    YYLTYPE *yyls = yylsa;
    YYLTYPE *yylsp = yyls;

    yy_state_t yyesa[20];
    yy_state_t *yyes = yyesa;
    YYPTRDIFF_T yyes_capacity = 20 < YYMAXDEPTH ? 20 : YYMAXDEPTH;

  /* Whether LAC context is established.  A Boolean.  */
  int yy_lac_established = 0;
  int yyn;
  /* The return value of yyparse.  */
  int yyresult;
  /* Lookahead symbol kind.  */
  yysymbol_kind_t yytoken = YYSYMBOL_YYEMPTY;
  /* The variables used to return semantic value and location from the
     action routines.  */
  YYSTYPE yyval;
  YYLTYPE yyloc;

  /* The locations where the error started and ended.  */
  YYLTYPE yyerror_range[3];



#define YYPOPSTACK(N)   (yyvsp -= (N), yyssp -= (N), yylsp -= (N))

  /* The number of symbols on the RHS of the reduced rule.
     Keep to zero when no symbol should be popped.  */
  int yylen = 0;

  YYDPRINTF ((stderr, "Starting parse\n"));

  yychar = TOK_TILE_YYEMPTY; /* Cause a token to be read.  */


/* User initialization code.  */
{ yylloc = (Span){ 0, 0 }; }


  yylsp[0] = yylloc;
  goto yysetstate;


/*------------------------------------------------------------.
| yynewstate -- push a new state, which is found in yystate.  |
`------------------------------------------------------------*/
yynewstate:
  /* In all cases, when you get here, the value and location stacks
     have just been pushed.  So pushing a state here evens the stacks.  */
  yyssp++;


/*--------------------------------------------------------------------.
| yysetstate -- set current state (the top of the stack) to yystate.  |
`--------------------------------------------------------------------*/
yysetstate:
  YYDPRINTF ((stderr, "Entering state %d\n", yystate));
  YY_ASSERT (0 <= yystate && yystate < YYNSTATES);
  YY_IGNORE_USELESS_CAST_BEGIN
  *yyssp = YY_CAST (yy_state_t, yystate);
  YY_IGNORE_USELESS_CAST_END
  YY_STACK_PRINT (yyss, yyssp);

  if (yyss + yystacksize - 1 <= yyssp)
#if !defined yyoverflow && !defined YYSTACK_RELOCATE
    YYNOMEM;
#else
    {
      /* Get the current used size of the three stacks, in elements.  */
      YYPTRDIFF_T yysize = yyssp - yyss + 1;

# if defined yyoverflow
      {
        /* Give user a chance to reallocate the stack.  Use copies of
           these so that the &'s don't force the real ones into
           memory.  */
        yy_state_t *yyss1 = yyss;
        YYSTYPE *yyvs1 = yyvs;
        YYLTYPE *yyls1 = yyls;

        /* Each stack pointer address is followed by the size of the
           data in use in that stack, in bytes.  This used to be a
           conditional around just the two extra args, but that might
           be undefined if yyoverflow is a macro.  */
        yyoverflow (YY_("memory exhausted"),
                    &yyss1, yysize * YYSIZEOF (*yyssp),
                    &yyvs1, yysize * YYSIZEOF (*yyvsp),
                    &yyls1, yysize * YYSIZEOF (*yylsp),
                    &yystacksize);
        yyss = yyss1;
        yyvs = yyvs1;
        yyls = yyls1;
      }
# else /* defined YYSTACK_RELOCATE */
      /* Extend the stack our own way.  */
      if (YYMAXDEPTH <= yystacksize)
        YYNOMEM;
      yystacksize *= 2;
      if (YYMAXDEPTH < yystacksize)
        yystacksize = YYMAXDEPTH;

      {
        yy_state_t *yyss1 = yyss;
        union yyalloc *yyptr =
          YY_CAST (union yyalloc *,
                   YYSTACK_ALLOC (YY_CAST (YYSIZE_T, YYSTACK_BYTES (yystacksize))));
        if (! yyptr)
          YYNOMEM;
        YYSTACK_RELOCATE (yyss_alloc, yyss);
        YYSTACK_RELOCATE (yyvs_alloc, yyvs);
        YYSTACK_RELOCATE (yyls_alloc, yyls);
#  undef YYSTACK_RELOCATE
        if (yyss1 != yyssa)
          YYSTACK_FREE (yyss1);
      }
# endif

      yyssp = yyss + yysize - 1;
      yyvsp = yyvs + yysize - 1;
      yylsp = yyls + yysize - 1;

      YY_IGNORE_USELESS_CAST_BEGIN
      YYDPRINTF ((stderr, "Stack size increased to %ld\n",
                  YY_CAST (long, yystacksize)));
      YY_IGNORE_USELESS_CAST_END

      if (yyss + yystacksize - 1 <= yyssp)
        YYABORT;
    }
#endif /* !defined yyoverflow && !defined YYSTACK_RELOCATE */


  if (yystate == YYFINAL)
    YYACCEPT;

  goto yybackup;


/*-----------.
| yybackup.  |
`-----------*/
yybackup:
  /* Do appropriate processing given the current state.  Read a
     lookahead token if we need one and don't already have one.  */

  /* First try to decide what to do without reference to lookahead token.  */
  yyn = yypact[yystate];
  if (yypact_value_is_default (yyn))
    goto yydefault;

  /* Not known => get a lookahead token if don't already have one.  */

  /* YYCHAR is either empty, or end-of-input, or a valid lookahead.  */
  if (yychar == TOK_TILE_YYEMPTY)
    {
      YYDPRINTF ((stderr, "Reading a token\n"));
      yychar = yylex (&yylval, &yylloc, g);
    }

  if (yychar <= TOK_END)
    {
      yychar = TOK_END;
      yytoken = YYSYMBOL_YYEOF;
      YYDPRINTF ((stderr, "Now at end of input.\n"));
    }
  else if (yychar == TOK_TILE_YYerror)
    {
      /* The scanner already issued an error message, process directly
         to error recovery.  But do not keep the error token as
         lookahead, it is too special and may lead us to an endless
         loop in error recovery. */
      yychar = TOK_TILE_YYUNDEF;
      yytoken = YYSYMBOL_YYerror;
      yyerror_range[1] = yylloc;
      goto yyerrlab1;
    }
  else
    {
      yytoken = YYTRANSLATE (yychar);
      YY_SYMBOL_PRINT ("Next token is", yytoken, &yylval, &yylloc);
    }

  /* If the proper action on seeing token YYTOKEN is to reduce or to
     detect an error, take that action.  */
  yyn += yytoken;
  if (yyn < 0 || YYLAST < yyn || yycheck[yyn] != yytoken)
    {
      YY_LAC_ESTABLISH;
      goto yydefault;
    }
  yyn = yytable[yyn];
  if (yyn <= 0)
    {
      if (yytable_value_is_error (yyn))
        goto yyerrlab;
      yyn = -yyn;
      YY_LAC_ESTABLISH;
      goto yyreduce;
    }

  /* Count tokens shifted since error; after three, turn off error
     status.  */
  if (yyerrstatus)
    yyerrstatus--;

  /* Shift the lookahead token.  */
  YY_SYMBOL_PRINT ("Shifting", yytoken, &yylval, &yylloc);
  yystate = yyn;
  YY_IGNORE_MAYBE_UNINITIALIZED_BEGIN
  *++yyvsp = yylval;
  YY_IGNORE_MAYBE_UNINITIALIZED_END
  *++yylsp = yylloc;

  /* Discard the shifted token.  */
  yychar = TOK_TILE_YYEMPTY;
  YY_LAC_DISCARD ("shift");
  goto yynewstate;


/*-----------------------------------------------------------.
| yydefault -- do the default action for the current state.  |
`-----------------------------------------------------------*/
yydefault:
  yyn = yydefact[yystate];
  if (yyn == 0)
    goto yyerrlab;
  goto yyreduce;


/*-----------------------------.
| yyreduce -- do a reduction.  |
`-----------------------------*/
yyreduce:
  /* yyn is the number of a rule to reduce with.  */
  yylen = yyr2[yyn];

  /* If YYLEN is nonzero, implement the default value of the action:
     '$$ = $1'.

     Otherwise, the following line sets YYVAL to garbage.
     This behavior is undocumented and Bison
     users should not rely upon it.  Assigning to YYVAL
     unconditionally makes the parser a bit smaller, and it avoids a
     GCC warning that YYVAL may be used uninitialized.  */
  yyval = yyvsp[1-yylen];

  /* Default location. */
  YYLLOC_DEFAULT (yyloc, (yylsp - yylen), yylen);
  yyerror_range[1] = yyloc;
  YY_REDUCE_PRINT (yyn);
  {
    int yychar_backup = yychar;
    switch (yyn)
      {
  case 4: /* items: items item  */
                                                { gram_item(g, (yyvsp[0].item)); }
    break;

  case 5: /* item: doc "import" "a string" opt_as ";"  */
                                                { (yyval.item) = it_deco(it_import((yyloc), (yyvsp[-2].str), (yylsp[-2]), (yyvsp[-1].name)), (yyvsp[-4].str), (AttrVec){ 0 }); }
    break;

  case 6: /* item: doc "param" name opt_rtype "=" expr ";"  */
                { (yyval.item) = it_deco(it_constant(IT_PARAM, (yyloc), (yyvsp[-4].name), (yyvsp[-3].expr), (yyvsp[-1].expr)), (yyvsp[-6].str), (AttrVec){ 0 }); }
    break;

  case 7: /* item: doc constdef  */
                                                { (yyval.item) = it_deco((yyvsp[0].item), (yyvsp[-1].str), (AttrVec){ 0 }); }
    break;

  case 8: /* item: doc instdef  */
                                                { (yyval.item) = it_deco((yyvsp[0].item), (yyvsp[-1].str), (AttrVec){ 0 }); }
    break;

  case 9: /* item: doc attrs "kernel" name generics0 "(" params ")" dims_order grid wheres block  */
                { FnItem fn = { .generics = (yyvsp[-7].generics), .params = (yyvsp[-5].params), .dims = (yyvsp[-3].exprs), .grid = (yyvsp[-2].exprs), .where = (yyvsp[-1].exprs), .body = (yyvsp[0].block) };
		  (yyval.item) = it_deco(it_fn(IT_KERNEL, (yyloc), (yyvsp[-8].name), fn), (yyvsp[-11].str), (yyvsp[-10].attrs)); }
    break;

  case 10: /* item: doc attrs "entry" name "(" params ")" dims_order wheres block  */
                { FnItem fn = { .params = (yyvsp[-4].params), .dims = (yyvsp[-2].exprs), .where = (yyvsp[-1].exprs), .body = (yyvsp[0].block) };
		  (yyval.item) = it_deco(it_fn(IT_ENTRY, (yyloc), (yyvsp[-6].name), fn), (yyvsp[-9].str), (yyvsp[-8].attrs)); }
    break;

  case 11: /* item: doc attrs "fn" name generics0 "(" params ")" result wheres block  */
                { FnItem fn = { .generics = (yyvsp[-6].generics), .params = (yyvsp[-4].params), .result = (yyvsp[-2].expr), .where = (yyvsp[-1].exprs), .body = (yyvsp[0].block) };
		  (yyval.item) = it_deco(it_fn(IT_FN, (yyloc), (yyvsp[-7].name), fn), (yyvsp[-10].str), (yyvsp[-9].attrs)); }
    break;

  case 12: /* item: ";"  */
                                                { slip_semicolon(g, (yylsp[0])); (yyval.item) = NULL; }
    break;

  case 13: /* item: error "a place to go on"  */
                                                { (yyval.item) = it_new(IT_ERROR, (yyloc)); yyerrok; }
    break;

  case 14: /* item: headless block  */
                                                { (yyval.item) = it_new(IT_ERROR, (yyloc)); }
    break;

  case 15: /* headless: error "a body to go on with"  */
                                                { yyerrok; }
    break;

  case 16: /* doc: %empty  */
                                                { (yyval.str) = NULL; }
    break;

  case 17: /* doc: "a doc comment"  */
                                                { (yyval.str) = (yyvsp[0].str); (yyloc) = (Span){ (yylsp[0]).hi, (yylsp[0]).hi }; }
    break;

  case 18: /* attrs: %empty  */
                                                { (yyval.attrs) = (AttrVec){ 0 }; }
    break;

  case 19: /* attrs: attrs attr  */
                                                { APPEND((yyval.attrs), (yyvsp[-1].attrs), (yyvsp[0].attr)); }
    break;

  case 20: /* attr: "@" name attr_args  */
                                                { (yyval.attr) = (Attr){ (yyvsp[-1].name), (yyvsp[0].args), (yyloc) }; }
    break;

  case 21: /* attr_args: %empty  */
                                                { (yyval.args) = (ArgVec){ 0 }; }
    break;

  case 22: /* attr_args: "(" args ")"  */
                                                { (yyval.args) = (yyvsp[-1].args); }
    break;

  case 37: /* opt_as: %empty  */
                                                { (yyval.name) = (Name){ 0 }; }
    break;

  case 38: /* opt_as: "as" name  */
                                                { (yyval.name) = (yyvsp[0].name); }
    break;

  case 39: /* constdef: "const" name opt_rtype "=" expr ";"  */
                                                { (yyval.item) = it_constant(IT_CONST, (yyloc), (yyvsp[-4].name), (yyvsp[-3].expr), (yyvsp[-1].expr)); }
    break;

  case 40: /* instdef: instance targs0 wheres ";"  */
                                                { (yyval.item) = it_inst_args((yyvsp[-3].item), (yyloc), (yyvsp[-2].args), (yyvsp[-1].exprs)); }
    break;

  case 41: /* instance: "instance" name "=" name  */
                                                { (yyval.item) = it_instance(IT_INSTANCE, (yyloc), (yyvsp[-2].name), (Name){ 0 }, (yyvsp[0].name)); }
    break;

  case 42: /* instance: "instance" name "=" name "." name  */
                                                { (yyval.item) = it_instance(IT_INSTANCE, (yyloc), (yyvsp[-4].name), (yyvsp[-2].name), (yyvsp[0].name)); }
    break;

  case 43: /* instance: "tune" name "=" name  */
                                                { (yyval.item) = it_instance(IT_TUNE, (yyloc), (yyvsp[-2].name), (Name){ 0 }, (yyvsp[0].name)); }
    break;

  case 44: /* instance: "tune" name "=" name "." name  */
                                                { (yyval.item) = it_instance(IT_TUNE, (yyloc), (yyvsp[-4].name), (yyvsp[-2].name), (yyvsp[0].name)); }
    break;

  case 45: /* dims_order: %empty  */
                                                { (yyval.exprs) = (ExprVec){ 0 }; }
    break;

  case 46: /* dims_order: "dims" "[" exprs1 comma "]"  */
                                                { (yyval.exprs) = (yyvsp[-2].exprs); }
    break;

  case 47: /* grid: %empty  */
                                                { (yyval.exprs) = slip_no_grid(g); }
    break;

  case 48: /* grid: "grid" "[" exprs1 comma "]"  */
                                                { (yyval.exprs) = (yyvsp[-2].exprs); }
    break;

  case 49: /* wheres: %empty  */
                                                { (yyval.exprs) = (ExprVec){ 0 }; }
    break;

  case 51: /* wheres1: "where" conds  */
                                                { (yyval.exprs) = (yyvsp[0].exprs); }
    break;

  case 52: /* wheres1: wheres1 "where" cond_expr  */
                                                { APPEND((yyval.exprs), (yyvsp[-2].exprs), (yyvsp[0].expr)); }
    break;

  case 53: /* wheres1: wheres1 "," cond_expr  */
                                                { APPEND((yyval.exprs), (yyvsp[-2].exprs), (yyvsp[0].expr)); }
    break;

  case 54: /* conds: cond_expr  */
                                                { APPEND((yyval.exprs), (ExprVec){ 0 }, (yyvsp[0].expr)); }
    break;

  case 55: /* result: %empty  */
                                                { (yyval.expr) = NULL; }
    break;

  case 56: /* result: "->" rtype  */
                                                { (yyval.expr) = (yyvsp[0].expr); }
    break;

  case 57: /* result: ":" rtype  */
                                                { (yyval.expr) = slip_result(g, (yylsp[-1]), (yyvsp[0].expr)); }
    break;

  case 58: /* generics0: %empty  */
                                                { (yyval.generics) = (GenericVec){ 0 }; }
    break;

  case 59: /* generics0: "<" generics comma close  */
                                                { (yyval.generics) = (yyvsp[-2].generics); }
    break;

  case 60: /* generics: generic  */
                                                { APPEND((yyval.generics), (GenericVec){ 0 }, *(yyvsp[0].generic)); }
    break;

  case 61: /* generics: generics "," generic  */
                                                { APPEND((yyval.generics), (yyvsp[-2].generics), *(yyvsp[0].generic)); }
    break;

  case 62: /* generic: doc name  */
                                                { (yyval.generic) = ast_generic((yyvsp[-1].str), (yyvsp[0].name), NULL, NULL); }
    break;

  case 63: /* generic: doc name ":" class  */
                                                { (yyval.generic) = ast_generic((yyvsp[-3].str), (yyvsp[-2].name), (yyvsp[0].expr), NULL); }
    break;

  case 64: /* generic: doc name "=" targ  */
                                                { (yyval.generic) = ast_generic((yyvsp[-3].str), (yyvsp[-2].name), NULL, (yyvsp[0].expr)); }
    break;

  case 65: /* generic: doc name ":" class "=" targ  */
                                                { (yyval.generic) = ast_generic((yyvsp[-5].str), (yyvsp[-4].name), (yyvsp[-2].expr), (yyvsp[0].expr)); }
    break;

  case 67: /* class: alts  */
                                                { (yyval.expr) = ex_list(EX_ALT, (yyloc), (yyvsp[0].exprs)); }
    break;

  case 68: /* alts: type "|" type  */
                                                { APPEND((yyval.exprs), (ExprVec){ 0 }, (yyvsp[-2].expr)); vec_push(A_UNIT, &(yyval.exprs), (yyvsp[0].expr)); }
    break;

  case 69: /* alts: alts "|" type  */
                                                { APPEND((yyval.exprs), (yyvsp[-2].exprs), (yyvsp[0].expr)); }
    break;

  case 70: /* params: %empty  */
                                                { (yyval.params) = (ParamVec){ 0 }; }
    break;

  case 72: /* params1: param  */
                                                { APPEND((yyval.params), (ParamVec){ 0 }, *(yyvsp[0].param)); }
    break;

  case 73: /* params1: params1 "," param  */
                                                { APPEND((yyval.params), (yyvsp[-2].params), *(yyvsp[0].param)); }
    break;

  case 75: /* param: param_head "=" expr  */
                                                { (yyval.param) = (yyvsp[-2].param); (yyval.param)->dflt = (yyvsp[0].expr); (yyval.param)->span = (yyloc); }
    break;

  case 76: /* param_head: doc name ":" type  */
                                                { (yyval.param) = ast_param((yyloc), (yyvsp[-3].str), (yyvsp[-2].name), MODE_NONE, (yyvsp[0].expr)); }
    break;

  case 77: /* param_head: doc name ":" mode type  */
                                                { (yyval.param) = ast_param((yyloc), (yyvsp[-4].str), (yyvsp[-3].name), (yyvsp[-1].mode), (yyvsp[0].expr)); }
    break;

  case 78: /* mode: "in"  */
                                                { (yyval.mode) = MODE_IN; }
    break;

  case 79: /* mode: "out"  */
                                                { (yyval.mode) = MODE_OUT; }
    break;

  case 80: /* mode: "inout"  */
                                                { (yyval.mode) = MODE_INOUT; }
    break;

  case 82: /* type: name  */
                                                { (yyval.expr) = ex_name((yyvsp[0].name)); }
    break;

  case 83: /* type: name "<" targs close  */
                                                { (yyval.expr) = ex_type((yyloc), (yyvsp[-3].name), (yyvsp[-1].args)); }
    break;

  case 84: /* type: name "(" args ")"  */
                                                { (yyval.expr) = ex_call((yyloc), ex_name((yyvsp[-3].name)), (yyvsp[-1].args)); }
    break;

  case 86: /* rtype: "(" types comma ")"  */
                                                { (yyval.expr) = ex_paren((yyloc), (yyvsp[-2].exprs)); }
    break;

  case 87: /* opt_rtype: %empty  */
                                                { (yyval.expr) = NULL; }
    break;

  case 88: /* opt_rtype: ":" rtype  */
                                                { (yyval.expr) = (yyvsp[0].expr); }
    break;

  case 89: /* types: rtype  */
                                                { APPEND((yyval.exprs), (ExprVec){ 0 }, (yyvsp[0].expr)); }
    break;

  case 90: /* types: types "," rtype  */
                                                { APPEND((yyval.exprs), (yyvsp[-2].exprs), (yyvsp[0].expr)); }
    break;

  case 91: /* basic_type: "tile" "<" targs close  */
                                                { (yyval.expr) = ex_type((yyloc), (Name){ str_intern("tile"), (yylsp[-3]) }, (yyvsp[-1].args)); }
    break;

  case 92: /* basic_type: "ptr" "<" targs close  */
                                                { (yyval.expr) = ex_type((yyloc), (Name){ str_intern("ptr"), (yylsp[-3]) }, (yyvsp[-1].args)); }
    break;

  case 93: /* basic_type: "tensor" "<" targ "," shape close  */
                { (yyval.expr) = ex_tensor((yyloc), (Name){ str_intern("tensor"), (yylsp[-5]) }, (yyvsp[-3].expr), (yyvsp[-1].expr), (Arg){ 0 }); }
    break;

  case 94: /* basic_type: "tensor" "<" targ "," shape "," named_targ close  */
                { (yyval.expr) = ex_tensor((yyloc), (Name){ str_intern("tensor"), (yylsp[-7]) }, (yyvsp[-5].expr), (yyvsp[-3].expr), (yyvsp[-1].arg)); }
    break;

  case 95: /* shape: "[" dims "]"  */
                                                { (yyval.expr) = ex_list(EX_LIST, (yyloc), (yyvsp[-1].exprs)); }
    break;

  case 96: /* shape: name  */
                                                { (yyval.expr) = ex_name((yyvsp[0].name)); }
    break;

  case 97: /* dims: %empty  */
                                                { (yyval.exprs) = (ExprVec){ 0 }; }
    break;

  case 99: /* dims1: dim  */
                                                { APPEND((yyval.exprs), (ExprVec){ 0 }, (yyvsp[0].expr)); }
    break;

  case 100: /* dims1: dims1 "," dim  */
                                                { APPEND((yyval.exprs), (yyvsp[-2].exprs), (yyvsp[0].expr)); }
    break;

  case 102: /* dim: name ":" type  */
                                                { (yyval.expr) = ex_dim((yyloc), (yyvsp[-2].name), (yyvsp[0].expr)); }
    break;

  case 103: /* targs0: %empty  */
                                                { (yyval.args) = (ArgVec){ 0 }; }
    break;

  case 104: /* targs0: "<" targs close  */
                                                { (yyval.args) = (yyvsp[-1].args); }
    break;

  case 105: /* targs: named_targ  */
                                                { APPEND((yyval.args), (ArgVec){ 0 }, (yyvsp[0].arg)); }
    break;

  case 106: /* targs: targs "," named_targ  */
                                                { APPEND((yyval.args), (yyvsp[-2].args), (yyvsp[0].arg)); }
    break;

  case 107: /* named_targ: targ  */
                                                { (yyval.arg) = (Arg){ { 0 }, (yyvsp[0].expr) }; }
    break;

  case 108: /* named_targ: name ":" targ  */
                                                { (yyval.arg) = (Arg){ (yyvsp[-2].name), (yyvsp[0].expr) }; }
    break;

  case 110: /* targ: name "<" targs close  */
                                                { (yyval.expr) = ex_type((yyloc), (yyvsp[-3].name), (yyvsp[-1].args)); }
    break;

  case 111: /* targ: "{" exprs1 comma "}"  */
                                                { (yyval.expr) = ex_list(EX_SET, (yyloc), (yyvsp[-2].exprs)); }
    break;

  case 118: /* block: "{" stmts "}"  */
                                                { (yyval.block) = ast_block((yyloc), (yyvsp[-1].stmts)); }
    break;

  case 119: /* stmts: %empty  */
                                                { (yyval.stmts) = (StmtVec){ 0 }; }
    break;

  case 120: /* stmts: stmts stmt  */
                                                { APPEND((yyval.stmts), (yyvsp[-1].stmts), (yyvsp[0].stmt)); }
    break;

  case 121: /* stmts: stmts ";"  */
                                                { slip_semicolon(g, (yylsp[0])); (yyval.stmts) = (yyvsp[-1].stmts); }
    break;

  case 122: /* stmt: doc attrs plain  */
                                                { (yyval.stmt) = st_deco((yyvsp[0].stmt), (yyvsp[-2].str), (yyvsp[-1].attrs)); }
    break;

  case 123: /* stmt: doc "(" exprs1 comma ")" "=" expr ";"  */
                { Expr *l = ex_paren((Span){ (yylsp[-6]).lo, (yylsp[-3]).hi }, (yyvsp[-5].exprs));
		  (yyval.stmt) = st_deco(st_assign((Span){ (yylsp[-6]).lo, (yylsp[0]).hi }, l, BIN_NONE, (yylsp[-2]), (yyvsp[-1].expr)), (yyvsp[-7].str), (AttrVec){ 0 }); }
    break;

  case 124: /* stmt: error "a place to go on"  */
                                                { (yyval.stmt) = st_new(ST_ERROR, (yyloc)); yyerrok; }
    break;

  case 125: /* plain: "let" decls ";"  */
                                                { (yyval.stmt) = st_decls(ST_LET, (yyloc), (yyvsp[-1].decls)); }
    break;

  case 126: /* plain: "var" decls ";"  */
                                                { (yyval.stmt) = st_decls(ST_VAR, (yyloc), (yyvsp[-1].decls)); }
    break;

  case 127: /* plain: lhs ";"  */
                                                { (yyval.stmt) = st_expr((yyloc), (yyvsp[-1].expr)); }
    break;

  case 128: /* plain: "unsafe" lhs ";"  */
                                                { (yyval.stmt) = st_expr((yyloc), ex_unsafe(span_join((yylsp[-2]), (yylsp[-1])), (yyvsp[-1].expr))); }
    break;

  case 129: /* plain: lhs assign expr ";"  */
                                                { (yyval.stmt) = st_assign((yyloc), (yyvsp[-3].expr), (yyvsp[-2].op), (yylsp[-2]), (yyvsp[-1].expr)); }
    break;

  case 130: /* plain: "for" name "in" expr ".." expr block  */
                                                { (yyval.stmt) = st_for((yyloc), false, (yyvsp[-5].name), (yyvsp[-3].expr), (yyvsp[-1].expr), NULL, (yyvsp[0].block)); }
    break;

  case 131: /* plain: "for" name "in" expr ".." expr "step" expr block  */
                { (yyval.stmt) = st_for((yyloc), false, (yyvsp[-7].name), (yyvsp[-5].expr), (yyvsp[-3].expr), (yyvsp[-1].expr), (yyvsp[0].block)); }
    break;

  case 132: /* plain: "for" "const" name "in" expr ".." expr block  */
                { (yyval.stmt) = st_for((yyloc), true, (yyvsp[-5].name), (yyvsp[-3].expr), (yyvsp[-1].expr), NULL, (yyvsp[0].block)); }
    break;

  case 133: /* plain: "for" "const" name "in" expr ".." expr "step" expr block  */
                { (yyval.stmt) = st_for((yyloc), true, (yyvsp[-7].name), (yyvsp[-5].expr), (yyvsp[-3].expr), (yyvsp[-1].expr), (yyvsp[0].block)); }
    break;

  case 134: /* plain: "for" name "in" expr block  */
                                                { (yyval.stmt) = st_for((yyloc), false, (yyvsp[-3].name), slip_range(g, (yyvsp[-1].expr)), (yyvsp[-1].expr), NULL, (yyvsp[0].block)); }
    break;

  case 135: /* plain: "while" cond_expr block  */
                                                { (yyval.stmt) = st_while((yyloc), (yyvsp[-1].expr), (yyvsp[0].block)); }
    break;

  case 137: /* plain: "break" ";"  */
                                                { (yyval.stmt) = st_new(ST_BREAK, (yyloc)); }
    break;

  case 138: /* plain: "continue" ";"  */
                                                { (yyval.stmt) = st_new(ST_CONTINUE, (yyloc)); }
    break;

  case 139: /* plain: "return" ";"  */
                                                { (yyval.stmt) = st_return((yyloc), NULL); }
    break;

  case 140: /* plain: "return" expr ";"  */
                                                { (yyval.stmt) = st_return((yyloc), (yyvsp[-1].expr)); }
    break;

  case 141: /* plain: "scratch" name ":" type ";"  */
                                                { (yyval.stmt) = st_scratch((yyloc), (yyvsp[-3].name), (yyvsp[-1].expr)); }
    break;

  case 142: /* plain: "unsafe" block  */
                                                { (yyval.stmt) = st_block(ST_UNSAFE, (yyvsp[0].block)); }
    break;

  case 143: /* plain: block  */
                                                { (yyval.stmt) = st_block(ST_BLOCK, (yyvsp[0].block)); }
    break;

  case 144: /* plain: constdef  */
                                                { (yyval.stmt) = st_const((yyvsp[0].item)); }
    break;

  case 145: /* ifstmt: "if" cond_expr block  */
                                                { (yyval.stmt) = st_if((yyloc), false, (yyvsp[-1].expr), (yyvsp[0].block), NULL); }
    break;

  case 146: /* ifstmt: "if" cond_expr block "else" block  */
                                                { (yyval.stmt) = st_if((yyloc), false, (yyvsp[-3].expr), (yyvsp[-2].block), st_block(ST_BLOCK, (yyvsp[0].block))); }
    break;

  case 147: /* ifstmt: "if" cond_expr block "else" ifstmt  */
                                                { (yyval.stmt) = st_if((yyloc), false, (yyvsp[-3].expr), (yyvsp[-2].block), (yyvsp[0].stmt)); }
    break;

  case 148: /* ifstmt: "if" "const" cond_expr block  */
                                                { (yyval.stmt) = st_if((yyloc), true, (yyvsp[-1].expr), (yyvsp[0].block), NULL); }
    break;

  case 149: /* ifstmt: "if" "const" cond_expr block "else" block  */
                { (yyval.stmt) = st_if((yyloc), true, (yyvsp[-3].expr), (yyvsp[-2].block), st_block(ST_BLOCK, (yyvsp[0].block))); }
    break;

  case 150: /* ifstmt: "if" "const" cond_expr block "else" ifstmt  */
                { (yyval.stmt) = st_if((yyloc), true, (yyvsp[-3].expr), (yyvsp[-2].block), (yyvsp[0].stmt)); }
    break;

  case 151: /* decls: decl  */
                                                { APPEND((yyval.decls), (DeclVec){ 0 }, (yyvsp[0].decl)); }
    break;

  case 152: /* decls: decls "," decl  */
                                                { APPEND((yyval.decls), (yyvsp[-2].decls), (yyvsp[0].decl)); }
    break;

  case 153: /* decl: pat opt_rtype "=" expr  */
                                                { (yyval.decl) = (Decl){ (yyvsp[-3].expr), (yyvsp[-2].expr), (yyvsp[0].expr) }; }
    break;

  case 154: /* decl: pat opt_rtype  */
                                                { (yyval.decl) = (Decl){ (yyvsp[-1].expr), (yyvsp[0].expr), slip_no_value(g, (yyvsp[-1].expr)) }; }
    break;

  case 155: /* pat: name  */
                                                { (yyval.expr) = ex_name((yyvsp[0].name)); }
    break;

  case 156: /* pat: "_"  */
                                                { (yyval.expr) = ex_new(EX_UNDER, (yylsp[0])); }
    break;

  case 157: /* pat: "(" pats comma ")"  */
                                                { (yyval.expr) = ex_paren((yyloc), (yyvsp[-2].exprs)); }
    break;

  case 158: /* pats: pat  */
                                                { APPEND((yyval.exprs), (ExprVec){ 0 }, (yyvsp[0].expr)); }
    break;

  case 159: /* pats: pats "," pat  */
                                                { APPEND((yyval.exprs), (yyvsp[-2].exprs), (yyvsp[0].expr)); }
    break;

  case 160: /* pats0: %empty  */
                                                { (yyval.exprs) = (ExprVec){ 0 }; }
    break;

  case 162: /* assign: "="  */
                                                { (yyval.op) = BIN_NONE; }
    break;

  case 163: /* assign: "+="  */
                                                { (yyval.op) = BIN_ADD; }
    break;

  case 164: /* assign: "-="  */
                                                { (yyval.op) = BIN_SUB; }
    break;

  case 165: /* assign: "*="  */
                                                { (yyval.op) = BIN_MUL; }
    break;

  case 166: /* assign: "/="  */
                                                { (yyval.op) = BIN_DIV; }
    break;

  case 167: /* assign: "%="  */
                                                { (yyval.op) = BIN_MOD; }
    break;

  case 168: /* assign: "@="  */
                                                { (yyval.op) = BIN_MATMUL; }
    break;

  case 169: /* assign: "&="  */
                                                { (yyval.op) = BIN_AND; }
    break;

  case 170: /* assign: "|="  */
                                                { (yyval.op) = BIN_OR; }
    break;

  case 171: /* assign: "^="  */
                                                { (yyval.op) = BIN_XOR; }
    break;

  case 172: /* assign: "<<="  */
                                                { (yyval.op) = BIN_SHL; }
    break;

  case 173: /* assign: "> then >=" "> then =" "="  */
                                                { (yyval.op) = BIN_SHR; }
    break;

  case 174: /* lhs: name  */
                                                { (yyval.expr) = ex_name((yyvsp[0].name)); }
    break;

  case 175: /* lhs: lhs "." name  */
                                                { (yyval.expr) = ex_member((yyvsp[-2].expr), (yyvsp[0].name)); }
    break;

  case 176: /* lhs: lhs "[" index "]"  */
                                                { (yyval.expr) = ex_index((yyloc), (yyvsp[-3].expr), (yyvsp[-1].exprs)); }
    break;

  case 177: /* lhs: lhs "(" args ")"  */
                                                { (yyval.expr) = ex_call((yyloc), (yyvsp[-3].expr), (yyvsp[-1].args)); }
    break;

  case 178: /* args: %empty  */
                                                { (yyval.args) = (ArgVec){ 0 }; }
    break;

  case 180: /* args1: arg  */
                                                { APPEND((yyval.args), (ArgVec){ 0 }, (yyvsp[0].arg)); }
    break;

  case 181: /* args1: args1 "," arg  */
                                                { APPEND((yyval.args), (yyvsp[-2].args), (yyvsp[0].arg)); }
    break;

  case 182: /* arg: expr  */
                                                { (yyval.arg) = (Arg){ { 0 }, (yyvsp[0].expr) }; }
    break;

  case 183: /* arg: name ":" expr  */
                                                { (yyval.arg) = (Arg){ (yyvsp[-2].name), (yyvsp[0].expr) }; }
    break;

  case 184: /* arg: expr "=" expr  */
                                                { (yyval.arg) = slip_argument(g, (yyvsp[-2].expr), (yylsp[-1]), (yyvsp[0].expr)); }
    break;

  case 185: /* index: ix  */
                                                { APPEND((yyval.exprs), (ExprVec){ 0 }, (yyvsp[0].expr)); }
    break;

  case 186: /* index: index "," ix  */
                                                { APPEND((yyval.exprs), (yyvsp[-2].exprs), (yyvsp[0].expr)); }
    break;

  case 188: /* ix: ":"  */
                                                { (yyval.expr) = ex_new(EX_ALL, (yylsp[0])); }
    break;

  case 189: /* exprs: %empty  */
                                                { (yyval.exprs) = (ExprVec){ 0 }; }
    break;

  case 191: /* exprs1: expr  */
                                                { APPEND((yyval.exprs), (ExprVec){ 0 }, (yyvsp[0].expr)); }
    break;

  case 192: /* exprs1: exprs1 "," expr  */
                                                { APPEND((yyval.exprs), (yyvsp[-2].exprs), (yyvsp[0].expr)); }
    break;

  case 194: /* cond_expr: expr "=" expr  */
                                                { (yyval.expr) = slip_condition(g, (yyvsp[-2].expr), (yylsp[-1]), (yyvsp[0].expr)); }
    break;

  case 196: /* expr: "fn" "(" pats0 ")" expr  */
                                                { (yyval.expr) = ex_lambda((yyloc), (yyvsp[-2].exprs), (yyvsp[0].expr), NULL); }
    break;

  case 197: /* expr: "fn" "(" pats0 ")" block  */
                                                { (yyval.expr) = ex_lambda((yyloc), (yyvsp[-2].exprs), NULL, (yyvsp[0].block)); }
    break;

  case 199: /* ternary: binary "?" expr ":" ternary  */
                                                { (yyval.expr) = ex_cond((yyvsp[-4].expr), (yyvsp[-2].expr), (yyvsp[0].expr)); }
    break;

  case 201: /* binary: binary "||" binary  */
                                                { (yyval.expr) = ex_binary(BIN_OROR, (yylsp[-1]), (yyvsp[-2].expr), (yyvsp[0].expr)); }
    break;

  case 202: /* binary: binary "&&" binary  */
                                                { (yyval.expr) = ex_binary(BIN_ANDAND, (yylsp[-1]), (yyvsp[-2].expr), (yyvsp[0].expr)); }
    break;

  case 203: /* binary: binary cmpop binary  */
                                                { (yyval.expr) = ex_binary((yyvsp[-1].op), (yylsp[-1]), (yyvsp[-2].expr), (yyvsp[0].expr)); }
    break;

  case 204: /* binary: binary "|" binary  */
                                                { (yyval.expr) = ex_binary(BIN_OR, (yylsp[-1]), (yyvsp[-2].expr), (yyvsp[0].expr)); }
    break;

  case 205: /* binary: binary "^" binary  */
                                                { (yyval.expr) = ex_binary(BIN_XOR, (yylsp[-1]), (yyvsp[-2].expr), (yyvsp[0].expr)); }
    break;

  case 206: /* binary: binary "&" binary  */
                                                { (yyval.expr) = ex_binary(BIN_AND, (yylsp[-1]), (yyvsp[-2].expr), (yyvsp[0].expr)); }
    break;

  case 207: /* binary: binary "<<" binary  */
                                                { (yyval.expr) = ex_binary(BIN_SHL, (yylsp[-1]), (yyvsp[-2].expr), (yyvsp[0].expr)); }
    break;

  case 208: /* binary: binary "> then >" ">" binary  */
                { (yyval.expr) = ex_binary(BIN_SHR, span_join((yylsp[-2]), (yylsp[-1])), (yyvsp[-3].expr), (yyvsp[0].expr)); }
    break;

  case 209: /* cmpop: "=="  */
                                                { (yyval.op) = BIN_EQ; }
    break;

  case 210: /* cmpop: "!="  */
                                                { (yyval.op) = BIN_NE; }
    break;

  case 211: /* cmpop: "<"  */
                                                { (yyval.op) = BIN_LT; }
    break;

  case 212: /* cmpop: "<="  */
                                                { (yyval.op) = BIN_LE; }
    break;

  case 213: /* cmpop: ">"  */
                                                { (yyval.op) = BIN_GT; }
    break;

  case 214: /* cmpop: "> then =" "="  */
                                                { (yyval.op) = BIN_GE; }
    break;

  case 216: /* sum: sum addop sum  */
                                                { (yyval.expr) = ex_binary((yyvsp[-1].op), (yylsp[-1]), (yyvsp[-2].expr), (yyvsp[0].expr)); }
    break;

  case 217: /* sum: sum mulop sum  */
                                                { (yyval.expr) = ex_binary((yyvsp[-1].op), (yylsp[-1]), (yyvsp[-2].expr), (yyvsp[0].expr)); }
    break;

  case 218: /* addop: "+"  */
                                                { (yyval.op) = BIN_ADD; }
    break;

  case 219: /* addop: "-"  */
                                                { (yyval.op) = BIN_SUB; }
    break;

  case 220: /* mulop: "*"  */
                                                { (yyval.op) = BIN_MUL; }
    break;

  case 221: /* mulop: "/"  */
                                                { (yyval.op) = BIN_DIV; }
    break;

  case 222: /* mulop: "%"  */
                                                { (yyval.op) = BIN_MOD; }
    break;

  case 223: /* mulop: "@"  */
                                                { (yyval.op) = BIN_MATMUL; }
    break;

  case 225: /* unary: "unsafe" unary  */
                                                { (yyval.expr) = ex_unsafe((yyloc), (yyvsp[0].expr)); }
    break;

  case 226: /* unary: "-" unary  */
                                                { (yyval.expr) = ex_unary(UN_NEG, (yyloc), (yyvsp[0].expr)); }
    break;

  case 227: /* unary: "+" unary  */
                                                { (yyval.expr) = ex_unary(UN_PLUS, (yyloc), (yyvsp[0].expr)); }
    break;

  case 228: /* unary: "!" unary  */
                                                { (yyval.expr) = ex_unary(UN_NOT, (yyloc), (yyvsp[0].expr)); }
    break;

  case 229: /* unary: "~" unary  */
                                                { (yyval.expr) = ex_unary(UN_BITNOT, (yyloc), (yyvsp[0].expr)); }
    break;

  case 231: /* postfix: postfix "." name  */
                                                { (yyval.expr) = ex_member((yyvsp[-2].expr), (yyvsp[0].name)); }
    break;

  case 232: /* postfix: postfix "[" index "]"  */
                                                { (yyval.expr) = ex_index((yyloc), (yyvsp[-3].expr), (yyvsp[-1].exprs)); }
    break;

  case 233: /* postfix: postfix "(" args ")"  */
                                                { (yyval.expr) = ex_call((yyloc), (yyvsp[-3].expr), (yyvsp[-1].args)); }
    break;

  case 234: /* primary: name  */
                                                { (yyval.expr) = ex_name((yyvsp[0].name)); }
    break;

  case 236: /* primary: "an integer"  */
                                                { (yyval.expr) = ex_int((yylsp[0]), (yyvsp[0].lit)); }
    break;

  case 237: /* primary: "a float literal"  */
                                                { (yyval.expr) = ex_float((yylsp[0]), (yyvsp[0].lit)); }
    break;

  case 238: /* primary: "a string"  */
                                                { (yyval.expr) = ex_string((yylsp[0]), (yyvsp[0].str)); }
    break;

  case 239: /* primary: "_"  */
                                                { (yyval.expr) = ex_new(EX_UNDER, (yylsp[0])); }
    break;

  case 240: /* primary: "[" exprs "]"  */
                                                { (yyval.expr) = ex_list(EX_LIST, (yyloc), (yyvsp[-1].exprs)); }
    break;

  case 241: /* primary: "(" exprs1 comma ")"  */
                                                { (yyval.expr) = ex_paren((yyloc), (yyvsp[-2].exprs)); }
    break;

  case 242: /* primary: "(" expr "=" expr ")"  */
                                                { (yyval.expr) = slip_condition(g, (yyvsp[-3].expr), (yylsp[-2]), (yyvsp[-1].expr)); }
    break;



        default: break;
      }
    if (yychar_backup != yychar)
      YY_LAC_DISCARD ("yychar change");
  }
  /* User semantic actions sometimes alter yychar, and that requires
     that yytoken be updated with the new translation.  We take the
     approach of translating immediately before every use of yytoken.
     One alternative is translating here after every semantic action,
     but that translation would be missed if the semantic action invokes
     YYABORT, YYACCEPT, or YYERROR immediately after altering yychar or
     if it invokes YYBACKUP.  In the case of YYABORT or YYACCEPT, an
     incorrect destructor might then be invoked immediately.  In the
     case of YYERROR or YYBACKUP, subsequent parser actions might lead
     to an incorrect destructor call or verbose syntax error message
     before the lookahead is translated.  */
  YY_SYMBOL_PRINT ("-> $$ =", YY_CAST (yysymbol_kind_t, yyr1[yyn]), &yyval, &yyloc);

  YYPOPSTACK (yylen);
  yylen = 0;

  *++yyvsp = yyval;
  *++yylsp = yyloc;

  /* Now 'shift' the result of the reduction.  Determine what state
     that goes to, based on the state we popped back to and the rule
     number reduced by.  */
  {
    const int yylhs = yyr1[yyn] - YYNTOKENS;
    const int yyi = yypgoto[yylhs] + *yyssp;
    yystate = (0 <= yyi && yyi <= YYLAST && yycheck[yyi] == *yyssp
               ? yytable[yyi]
               : yydefgoto[yylhs]);
  }

  goto yynewstate;


/*--------------------------------------.
| yyerrlab -- here on detecting error.  |
`--------------------------------------*/
yyerrlab:
  /* Make sure we have latest lookahead translation.  See comments at
     user semantic actions for why this is necessary.  */
  yytoken = yychar == TOK_TILE_YYEMPTY ? YYSYMBOL_YYEMPTY : YYTRANSLATE (yychar);
  /* If not already recovering from an error, report this error.  */
  if (!yyerrstatus)
    {
      ++yynerrs;
      {
        yypcontext_t yyctx
          = {yyssp, yyesa, &yyes, &yyes_capacity, yytoken, &yylloc};
        if (yychar != TOK_TILE_YYEMPTY)
          YY_LAC_ESTABLISH;
        if (yyreport_syntax_error (&yyctx, g) == 2)
          YYNOMEM;
      }
    }

  yyerror_range[1] = yylloc;
  if (yyerrstatus == 3)
    {
      /* If just tried and failed to reuse lookahead token after an
         error, discard it.  */

      if (yychar <= TOK_END)
        {
          /* Return failure if at end of input.  */
          if (yychar == TOK_END)
            YYABORT;
        }
      else
        {
          yydestruct ("Error: discarding",
                      yytoken, &yylval, &yylloc, g);
          yychar = TOK_TILE_YYEMPTY;
        }
    }

  /* Else will try to reuse lookahead token after shifting the error
     token.  */
  goto yyerrlab1;


/*---------------------------------------------------.
| yyerrorlab -- error raised explicitly by YYERROR.  |
`---------------------------------------------------*/
yyerrorlab:
  /* Pacify compilers when the user code never invokes YYERROR and the
     label yyerrorlab therefore never appears in user code.  */
  if (0)
    YYERROR;
  ++yynerrs;

  /* Do not reclaim the symbols of the rule whose action triggered
     this YYERROR.  */
  YYPOPSTACK (yylen);
  yylen = 0;
  YY_STACK_PRINT (yyss, yyssp);
  yystate = *yyssp;
  goto yyerrlab1;


/*-------------------------------------------------------------.
| yyerrlab1 -- common code for both syntax error and YYERROR.  |
`-------------------------------------------------------------*/
yyerrlab1:
  yyerrstatus = 3;      /* Each real token shifted decrements this.  */

  /* Pop stack until we find a state that shifts the error token.  */
  for (;;)
    {
      yyn = yypact[yystate];
      if (!yypact_value_is_default (yyn))
        {
          yyn += YYSYMBOL_YYerror;
          if (0 <= yyn && yyn <= YYLAST && yycheck[yyn] == YYSYMBOL_YYerror)
            {
              yyn = yytable[yyn];
              if (0 < yyn)
                break;
            }
        }

      /* Pop the current state because it cannot handle the error token.  */
      if (yyssp == yyss)
        YYABORT;

      yyerror_range[1] = *yylsp;
      yydestruct ("Error: popping",
                  YY_ACCESSING_SYMBOL (yystate), yyvsp, yylsp, g);
      YYPOPSTACK (1);
      yystate = *yyssp;
      YY_STACK_PRINT (yyss, yyssp);
    }

  /* If the stack popping above didn't lose the initial context for the
     current lookahead token, the shift below will for sure.  */
  YY_LAC_DISCARD ("error recovery");

  YY_IGNORE_MAYBE_UNINITIALIZED_BEGIN
  *++yyvsp = yylval;
  YY_IGNORE_MAYBE_UNINITIALIZED_END

  yyerror_range[2] = yylloc;
  ++yylsp;
  YYLLOC_DEFAULT (*yylsp, yyerror_range, 2);

  /* Shift the error token.  */
  YY_SYMBOL_PRINT ("Shifting", YY_ACCESSING_SYMBOL (yyn), yyvsp, yylsp);

  yystate = yyn;
  goto yynewstate;


/*-------------------------------------.
| yyacceptlab -- YYACCEPT comes here.  |
`-------------------------------------*/
yyacceptlab:
  yyresult = 0;
  goto yyreturnlab;


/*-----------------------------------.
| yyabortlab -- YYABORT comes here.  |
`-----------------------------------*/
yyabortlab:
  yyresult = 1;
  goto yyreturnlab;


/*-----------------------------------------------------------.
| yyexhaustedlab -- YYNOMEM (memory exhaustion) comes here.  |
`-----------------------------------------------------------*/
yyexhaustedlab:
  yyerror (&yylloc, g, YY_("memory exhausted"));
  yyresult = 2;
  goto yyreturnlab;


/*----------------------------------------------------------.
| yyreturnlab -- parsing is finished, clean up and return.  |
`----------------------------------------------------------*/
yyreturnlab:
  if (yychar != TOK_TILE_YYEMPTY)
    {
      /* Make sure we have latest lookahead translation.  See comments at
         user semantic actions for why this is necessary.  */
      yytoken = YYTRANSLATE (yychar);
      yydestruct ("Cleanup: discarding lookahead",
                  yytoken, &yylval, &yylloc, g);
    }
  /* Do not reclaim the symbols of the rule whose action triggered
     this YYABORT or YYACCEPT.  */
  YYPOPSTACK (yylen);
  YY_STACK_PRINT (yyss, yyssp);
  while (yyssp != yyss)
    {
      yydestruct ("Cleanup: popping",
                  YY_ACCESSING_SYMBOL (+*yyssp), yyvsp, yylsp, g);
      YYPOPSTACK (1);
    }
#ifndef yyoverflow
  if (yyss != yyssa)
    YYSTACK_FREE (yyss);
#endif
  if (yyes != yyesa)
    YYSTACK_FREE (yyes);

  return yyresult;
}



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
