package input

import (
	"github.com/celadon-cel/celadon/internal/jsonvalue"
	"github.com/celadon-cel/celadon/internal/yaml/decode"
)

// A Decoder decodes documents that are used one after the other. It can reuse the memory of their
// objects.
type Decoder struct {
	json jsonvalue.Decoder
	yaml decode.Decoder
}

// A reuser lets later objects reuse the memory of the last object that it decoded.
type reuser interface{ Reuse() }

// decodeJSON decodes the chunk's JSON. It returns false if the chunk must be decoded by the library.
func (c *Chunk) decodeJSON() (obj map[string]any, decoder reuser, ok bool) {
	if c.Decoder == nil {
		obj, ok = jsonvalue.Object(c.text)
		return obj, nil, ok
	}
	obj, ok = c.Decoder.json.Object(c.text)
	return obj, &c.Decoder.json, ok
}

// decodeYAML decodes the chunk's YAML. decoder is nil if the memory of the value cannot be reused.
func (c *Chunk) decodeYAML() (v any, decoder reuser, duplicate, err error) {
	if c.Decoder == nil {
		v, duplicate, err = decode.Decode(c.text)
		return v, nil, duplicate, err
	}
	v, duplicate, err = c.Decoder.yaml.Decode(c.text)
	if c.Decoder.yaml.Reusable() {
		decoder = &c.Decoder.yaml
	}
	return v, decoder, duplicate, err
}
