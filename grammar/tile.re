/* Where tokens begin and end. Knows nothing of their values: lexer/ decodes literals and reports what is wrong.
 * Assumes a NUL byte at `end`; a NUL before it is a stray byte. The words are rows of the %token lines, not rules. */
#include "grammar/gram.h"
#include "grammar/tile_tab.h"

/* Ends of the texts that have none of their own. */
static const char *line_end(const char *p, const char *end)
{
	while (p < end && *p != '\n') p++;
	return p;
}

static const char *comment_end(const char *p, const char *end, int *kind)
{
	for (; p + 1 < end; p++)
		if (p[0] == '*' && p[1] == '/') return p + 2;
	*kind = SCAN_OPEN_COMMENT;
	return end;
}

/* `>` is one character; the kind tells what follows. `>==` is `>` and `==`. */
static int gt_kind(const char *p)
{
	if (p[0] == '>') return p[1] == '=' && p[2] != '=' ? TOK_GT_GE : TOK_GT_GT;
	return p[0] == '=' && p[1] != '=' ? TOK_GT_EQ : TOK_GT;
}

/* Behind `1.`: the point may belong to `..`. */
static int before_dots(const char **cur)
{
	if (**cur != '.') return SCAN_BAD_POINT;
	--*cur;
	return (*cur)[-1] == '_' ? SCAN_BAD_NUMBER : TOK_INT;
}

const char *scan_token(const char *at, const char *end, const char **lo, int *kind)
{
	const char *cur = at, *mark = at;
	for (;;) {
		*lo = cur;
		*kind = 0;
#define IS(k) do { *kind = (k); return cur; } while (0)
/*!re2c
	re2c:define:YYCTYPE = "unsigned char";
	re2c:define:YYCURSOR = cur;
	re2c:define:YYMARKER = mark;
	re2c:yyfill:enable = 0;
	re2c:flags:tags = 0;

	id     = [A-Za-z_][A-Za-z0-9_]*;
	digits = [0-9]([0-9_]*[0-9])?;
	hex    = [0-9a-fA-F]([0-9a-fA-F_]*[0-9a-fA-F])?;
	bits   = [01]([01_]*[01])?;
	isfx   = [iu][0-9]+;
	fsfx   = "f"[0-9]+("e"[0-9]+"m"[0-9]+)? | "bf16" | "tf32";
	exp    = [eE][+-]?[0-9]+;
	hexexp = [pP][+-]?[0-9]+;

	[ \t\r\n\v\f]+                  { continue; }
	"\x00"                          { if (*lo >= end) { *lo = end; *kind = 0; return end; } IS(SCAN_STRAY); }
	"//"                            { cur = line_end(cur, end); continue; }
	"///"                           { cur = line_end(cur, end); IS(TOK_DOC); }
	"////"                          { cur = line_end(cur, end); continue; }
	"/*"                            { cur = comment_end(cur, end, kind); if (*kind) return cur; continue; }
	"*/"                            { if (cur[0] == '*') { cur--; IS(TOK_STAR); } IS(SCAN_STRAY_CLOSE); }

	["]([^"\\\n\x00]|[\\][^\n\x00])*["]     { IS(TOK_STRING); }
	["]([^"\\\n\x00]|[\\][^\n\x00])*        { IS(SCAN_OPEN_STRING); }

	digits isfx?                    { IS(TOK_INT); }
	"0x" hex isfx?                  { IS(TOK_INT); }
	"0b" bits isfx?                 { IS(TOK_INT); }
	digits fsfx                     { IS(TOK_FLOAT); }
	digits ("." digits exp? | exp) fsfx?    { IS(TOK_FLOAT); }
	"0x" hex ("." hex)? hexexp fsfx?        { IS(TOK_FLOAT); }

	[0-9] [0-9A-Za-z_]*             { IS(SCAN_BAD_NUMBER); }
	[0-9] [0-9_]* "." [0-9] [0-9A-Za-z_]*                           { IS(SCAN_BAD_NUMBER); }
	[0-9] [0-9_]* ("." [0-9] [0-9_]*)? [eE] [+-] [0-9A-Za-z_]*      { IS(SCAN_BAD_NUMBER); }
	"0x" [0-9a-fA-F_]* "." [0-9a-fA-F] [0-9A-Za-z_]*                { IS(SCAN_BAD_NUMBER); }
	"0x" [0-9a-fA-F_]* ("." [0-9a-fA-F_]*)? [pP] [+-] [0-9A-Za-z_]* { IS(SCAN_BAD_NUMBER); }
	[0-9] [0-9_]* "."               { *kind = before_dots(&cur); return cur; }
	[0-9] [0-9_]* "." [A-Za-z_] [0-9A-Za-z_]*                       { IS(SCAN_BAD_POINT); }
	"." [0-9] [0-9A-Za-z_]*         { IS(SCAN_BAD_POINT); }

	"_"                             { IS(TOK_UNDER); }
	id                              { IS(TOK_IDENT); }

	">"                             { IS(gt_kind(cur)); }
	"("   { IS(TOK_LPAREN); }       ")"   { IS(TOK_RPAREN); }
	"["   { IS(TOK_LBRACK); }       "]"   { IS(TOK_RBRACK); }
	"{"   { IS(TOK_LBRACE); }       "}"   { IS(TOK_RBRACE); }
	","   { IS(TOK_COMMA); }        ";"   { IS(TOK_SEMI); }
	":"   { IS(TOK_COLON); }        "."   { IS(TOK_DOT); }
	".."  { IS(TOK_DOTDOT); }       "->"  { IS(TOK_ARROW); }
	"?"   { IS(TOK_QUESTION); }     "="   { IS(TOK_ASSIGN); }
	"+"   { IS(TOK_PLUS); }         "+="  { IS(TOK_PLUS_ASSIGN); }
	"-"   { IS(TOK_MINUS); }        "-="  { IS(TOK_MINUS_ASSIGN); }
	"*"   { IS(TOK_STAR); }         "*="  { IS(TOK_STAR_ASSIGN); }
	"/"   { IS(TOK_SLASH); }        "/="  { IS(TOK_SLASH_ASSIGN); }
	"%"   { IS(TOK_PERCENT); }      "%="  { IS(TOK_PERCENT_ASSIGN); }
	"@"   { IS(TOK_AT); }           "@="  { IS(TOK_AT_ASSIGN); }
	"&"   { IS(TOK_AMP); }          "&="  { IS(TOK_AMP_ASSIGN); }
	"|"   { IS(TOK_BAR); }          "|="  { IS(TOK_BAR_ASSIGN); }
	"^"   { IS(TOK_CARET); }        "^="  { IS(TOK_CARET_ASSIGN); }
	"~"   { IS(TOK_TILDE); }        "!"   { IS(TOK_BANG); }
	"&&"  { IS(TOK_ANDAND); }       "||"  { IS(TOK_OROR); }
	"=="  { IS(TOK_EQ); }           "!="  { IS(TOK_NE); }
	"<"   { IS(TOK_LT); }           "<="  { IS(TOK_LE); }
	"<<"  { IS(TOK_SHL); }          "<<=" { IS(TOK_SHL_ASSIGN); }

	*                               { IS(SCAN_STRAY); }
*/
#undef IS
	}
}
