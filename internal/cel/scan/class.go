package scan

// The classes of bytes, by what a token that begins with one is.
const (
	letter = 1 << iota
	digit
	space
	quote
	single
	double
	// name is what a name can go on with.
	name = letter | digit
)

// class is that of each byte; 0 where none begins.
var class = classes()

// singles are the operators of one character, which begin no longer one.
var singles = [128]Kind{
	'?': Question, ':': Colon, ',': Comma, '.': Dot,
	'(': OpenParen, ')': CloseParen, '[': OpenBracket, ']': CloseBracket, '{': OpenBrace, '}': CloseBrace,
	'+': Plus, '-': Minus, '*': Star, '%': Percent,
}

func classes() (table [256]uint8) {
	for c := range 26 {
		table['a'+c], table['A'+c] = letter, letter
	}
	table['_'] = letter
	for c := range 10 {
		table['0'+c] = digit
	}
	for _, c := range " \t\r\n\f" {
		table[c] = space
	}
	table['"'], table['\''] = quote, quote
	for c, kind := range singles {
		if kind != EOF {
			table[c] = single
		}
	}
	for _, c := range "!<>=&|" {
		table[c] = double
	}
	return table
}
