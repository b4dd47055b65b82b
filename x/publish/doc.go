// Package publish shows CRDs to those who write objects of them: what kubectl
// explain says of a field, with the bounds, defaults and rules that kubectl
// leaves out, and a reference page of a whole CRD with examples that the API
// server accepts.
//
// It works on the schema as a server publishes it in OpenAPI v3. The documents
// themselves are made by the server's own builder, which is heavy: see the
// module cmd/celadon/openapi.
package publish
