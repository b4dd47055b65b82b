// Package parse parses CEL expressions like cel-go's parser, but many times faster.
//
// For each expression that cel-go accepts, Parser.Parse returns the same tree, IDs, and positions, or ErrFlood. For any
// other expression it returns an error without details; run cel-go's parser to get the error messages. Parser.Tolerant
// returns a tree for any text, for use in editors.
package parse

// How it works: the parser uses recursive descent with one token of lookahead, on the tokens of
// package scan. Each left-recursive rule of cel-go's grammar is a loop. cel-go builds a parse tree
// and allocates IDs while visiting it, so the order of the IDs is not the order in the text. For
// example, the ID of && comes after the IDs of its right operand, and the ID of a map entry, at its colon, comes
// before the IDs of its key. The functions here allocate IDs in the order of that visit.
//
// cel-go limits nesting twice: for each kind of grammar rule and for visited operators. state
// counts the rules that can nest deepest (expr, relation, calc), and each parsed operand includes
// its height in visited operators.
//
// A tolerant parse runs the same code. At an error, functions such as rejected and missingOperand
// record a hole so that parsing continues. A missing operand gets a substitute.
