// Package publish renders CRDs for the authors of their objects: Find and Target.Explain produce the text of kubectl
// explain, extended by the bounds, defaults, and rules that kubectl omits. NewPage produces a reference page of a
// whole CRD with examples that the API server accepts, in HTML or Markdown.
//
// Find uses the schema as a server publishes it in OpenAPI v3.
package publish
