package scan

// Classes of bytes, by the token that can begin with the byte.
const (
	letter = 1 << iota
	digit
	space
	quote
	single
	double
	name = letter | digit
)

// class holds the class of each byte. It is 0 for bytes that begin no token, and for / and `.
var class = classes()

// singles holds the operators of one character that are not the beginning of a longer
// operator.
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
