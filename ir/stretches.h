/* How many registers values take at once, where threads wait for each other.
 *
 * Between two such waits a compiler orders instructions as it likes: loads first, other values as late as they are
 * needed. So values are counted by the stretches of operations between waits, not by single ones. In a stretch a
 * thread holds what lives all through it, and either what ends in it or what it makes for later, whichever is more:
 * an element that is made takes the place of what it came from. */
#ifndef IR_STRETCHES_H
#define IR_STRETCHES_H
#include <stdbool.h>

/* When a value lives: twice the number of a stretch stands for its middle, that number less 1 for its begin, and with 1
 * more for its end. What is loaded begins with its stretch. */
typedef struct Life {
	int begin, end;
	int words;              /* registers of 32 bits */
	bool sinks;             /* loaded and used up in one stretch: compilers load it late where much else is held */
} Life;

/* The most words at once, of stretches 1 to last; *where: the first stretch with that many, 0: none has any. */
int stretches_most(const Life *life, int n, int last, int *where);
#endif
