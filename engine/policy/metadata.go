package policy

import (
	"maps"
	"time"
)

const (
	// generatedSuffix represents the five random characters that the server appends to
	// metadata.generateName. maxGenerated is the maximum length of the name before it.
	generatedSuffix = "00000"
	maxGenerated    = 63 - len(generatedSuffix)
	newUID          = "00000000-0000-0000-0000-000000000000"
)

// SetServerFields sets metadata that the server sets before it evaluates policies and that a client cannot know. now
// is the time of the request.
//
// A new object gets a creationTimestamp and managedFields, a UID of zeros unless a TokenRequest has a UID, and a name
// if it has only a generateName. For an object that is created by a subresource other than token, SetServerFields
// does the same as SetReceivedFields. An update of an object or its status gets the metadata of the old object that
// clients cannot change. The deletion of a Pod gets its grace period. generation and status are not set, because they
// depend on the kind. SetServerFields replaces Object and Options instead of modifying them.
func (req *Request) SetServerFields(now time.Time) {
	switch {
	case req.Operation == OperationDelete:
		req.setGracePeriod()
	case req.Object != nil && req.Operation == OperationCreate && req.Subresource == "token":
		uid := req.metadata()["uid"]
		req.setNewMetadata(now)
		if uid != nil {
			req.metadata()["uid"] = uid
		}
	case req.Object != nil && req.Operation == OperationCreate && req.Subresource != "":
		req.SetReceivedFields(now)
	case req.Object == nil || req.Subresource != "" && req.Subresource != "status":
	case req.Operation == OperationCreate:
		req.setNewMetadata(now)
	case req.Operation == OperationUpdate && req.OldObject != nil:
		req.keepMetadata()
	}
}

// SetReceivedFields is like SetServerFields, for a request to Mutate. It replaces managedFields, and deletes other
// metadata that the server drops from a new object before mutation, such as the UID.
func (req *Request) SetReceivedFields(now time.Time) {
	creates := req.Operation == OperationCreate
	if req.Object == nil || !creates && (req.Operation != OperationUpdate || req.Subresource != "" && req.Subresource != "status") {
		return
	}
	meta := req.metadata()
	if creates && req.Subresource != "token" && req.Subresource != "binding" { // these keep a given UID
		wipe(meta)
	}
	old, _ := req.OldObject["metadata"].(map[string]any)
	if meta["managedFields"] = old["managedFields"]; meta["managedFields"] == nil {
		meta["managedFields"] = managedBy(textOf(req.Object, "apiVersion"), now)
	}
}

// wipe deletes the metadata of a new object that the server drops before mutation.
func wipe(meta map[string]any) {
	for _, field := range []string{"uid", "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds", "selfLink"} {
		delete(meta, field)
	}
}

func managedBy(apiVersion string, now time.Time) []any {
	return []any{map[string]any{
		"manager": "celadon", "operation": "Update", "apiVersion": apiVersion, "time": now.UTC().Format(time.RFC3339), "fieldsType": "FieldsV1", "fieldsV1": map[string]any{},
	}}
}

// metadata replaces Object by a copy with its own metadata, and returns that metadata.
func (req *Request) metadata() map[string]any {
	given, _ := req.Object["metadata"].(map[string]any)
	meta := make(map[string]any, len(given)+4)
	maps.Copy(meta, given)
	req.Object = maps.Clone(req.Object)
	req.Object["metadata"] = meta
	return meta
}

func (req *Request) setNewMetadata(now time.Time) {
	meta := req.metadata()
	if prefix := textOf(meta, "generateName"); prefix != "" && textOf(meta, "name") == "" {
		meta["name"] = prefix[:min(len(prefix), maxGenerated)] + generatedSuffix
	}
	if req.Name == "" {
		req.Name = textOf(meta, "name")
	}
	wipe(meta)
	meta["uid"], meta["creationTimestamp"] = newUID, now.UTC().Format(time.RFC3339)
	meta["managedFields"] = managedBy(textOf(req.Object, "apiVersion"), now)
}

var keptMetadata = []string{"uid", "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds"}

func (req *Request) keepMetadata() {
	meta := req.metadata()
	old, _ := req.OldObject["metadata"].(map[string]any)
	for _, field := range keptMetadata {
		if v, ok := old[field]; ok {
			meta[field] = v
		} else {
			delete(meta, field)
		}
	}
	for _, field := range []string{"resourceVersion", "managedFields"} {
		if v, ok := old[field]; ok && meta[field] == nil {
			meta[field] = v
		}
	}
}

// podGracePeriod is the default of terminationGracePeriodSeconds.
const podGracePeriod = int64(30)

// setGracePeriod sets the grace period in the options for deleting a Pod. A Pod that does not run is deleted at once.
func (req *Request) setGracePeriod() {
	if req.Kind.Group != "" || req.Kind.Kind != "Pod" || req.Subresource != "" {
		return
	}
	spec, _ := req.OldObject["spec"].(map[string]any)
	status, _ := req.OldObject["status"].(map[string]any)
	period := podGracePeriod
	for _, given := range []any{spec["terminationGracePeriodSeconds"], req.Options["gracePeriodSeconds"]} {
		if seconds, ok := given.(int64); ok {
			period = seconds
		}
	}
	phase := textOf(status, "phase")
	switch {
	case textOf(spec, "nodeName") == "" || phase == "Failed" || phase == "Succeeded":
		period = 0
	case period < 0:
		period = 1
	}
	options, _ := req.options().(map[string]any)
	req.Options = maps.Clone(options)
	req.Options["gracePeriodSeconds"] = period
}
