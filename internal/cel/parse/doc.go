// Package parse parses CEL as cel-go does, many times faster: for each
// expression that cel-go's parser accepts, Parser.Parse gives the same tree, ids,
// positions and macro calls. Of any other it says no more than that it is not
// accepted; cel-go's parser, which is asked then, words what is wrong.
//
// Parser.Tolerant gives a tree of any text, for editors.
package parse

// How it works: recursive descent over celscan's tokens, one token ahead, with
// a loop for each left-recursive rule of cel-go's grammar. cel-go makes a parse
// tree and visits it, and gives ids as it visits; the order of the ids is that of
// the visit and not of the text (the id of && comes after its right operand's,
// that of a map entry's colon before its key's), and so each function here
// takes ids where the visit does.
//
// cel-go bounds nesting twice: the grammar's rules may nest so many times, each
// kind for itself, and so may the visited operators. state counts the rules
// that can nest deepest (expr, relation, calc), and each parsed operand comes
// with its height in visited operators.
//
// A tolerant parse runs the same code. Where a strict one fails, miss and its
// like note a hole and give something to go on with.
