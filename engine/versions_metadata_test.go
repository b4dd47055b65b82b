package engine_test

const nameForm = "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"

var metadataCases = []versionCase{
	{name: "an owner without a name", obj: `metadata: {ownerReferences: [{apiVersion: v1, kind: Pod, uid: u, name: ""}]}, spec: {even: 1}`, want: map[int][]string{
		28: {`metadata.ownerReferences.name: Invalid value: "": name must not be empty`, `spec.even: Invalid value: "integer": odd`},
		34: {`metadata.ownerReferences.name: Invalid value: "": must not be empty`, `spec.even: Invalid value: "integer": odd`},
		35: {`metadata.ownerReferences.name: Invalid value: "": must not be empty`, `spec.even: Invalid value: 1: odd`},
		37: {`metadata.ownerReferences[0].name: Required value: must not be empty`, nullSkip},
	}},
	{name: "the same on update", old: `spec: {}`, obj: `metadata: {ownerReferences: [{apiVersion: v1, kind: Pod, uid: u, name: ""}]}, spec: {even: 2}`, want: map[int][]string{
		28: thrice(`metadata.ownerReferences.name: Invalid value: "": name must not be empty`),
		34: thrice(`metadata.ownerReferences.name: Invalid value: "": must not be empty`),
		37: append(thrice(`metadata.ownerReferences[0].name: Required value: must not be empty`), nullSkip),
	}},
	{name: "a banned owner", obj: `metadata: {ownerReferences: [{apiVersion: v1, kind: Event, uid: u, name: e}]}`, want: map[int][]string{
		28: {`metadata.ownerReferences: Invalid value: v1.OwnerReference{APIVersion:"v1", Kind:"Event", Name:"e", UID:"u", Controller:(*bool)(nil), BlockOwnerDeletion:(*bool)(nil)}: /v1, Kind=Event is disallowed from being an owner`},
		34: {`metadata.ownerReferences: Invalid value: {"apiVersion":"v1","kind":"Event","name":"e","uid":"u"}: /v1, Kind=Event is disallowed from being an owner`},
		37: {`metadata.ownerReferences[0]: Invalid value: {"apiVersion":"v1","kind":"Event","name":"e","uid":"u"}: /v1, Kind=Event is disallowed from being an owner`},
	}},
	{name: "long labels", obj: `metadata: {labels: {` + longName + `: ` + longName + `}}`, want: map[int][]string{
		28: {`metadata.labels: Invalid value: "` + longName + `": name part must be no more than 63 characters`, `metadata.labels: Invalid value: "` + longName + `": must be no more than 63 characters`},
		35: {`metadata.labels: Invalid value: "` + longName + `": name part must be no more than 63 bytes`, `metadata.labels: Invalid value: "` + longName + `": must be no more than 63 bytes`},
	}},
	{name: "equal errors", obj: `metadata: {finalizers: ["-", "-"]}`, want: map[int][]string{
		28: {`metadata.finalizers: Invalid value: "-": ` + nameForm, `metadata.finalizers: Invalid value: "-": ` + nameForm},
		37: {`metadata.finalizers: Invalid value: "-": ` + nameForm},
	}},
	{name: "finalizers", obj: `metadata: {finalizers: [a, a.b, a/b]}`, warnings: map[int][]string{
		29: {`metadata.finalizers: "a": prefer a domain-qualified finalizer name to avoid accidental conflicts with other finalizer writers`, `metadata.finalizers: "a.b": prefer a domain-qualified finalizer name to avoid accidental conflicts with other finalizer writers`},
		32: {`metadata.finalizers: "a": prefer a domain-qualified finalizer name to avoid accidental conflicts with other finalizer writers`, `metadata.finalizers: "a.b": prefer a domain-qualified finalizer name including a path (/) to avoid accidental conflicts with other finalizer writers`},
	}},
	{name: "another deletionTimestamp", old: `spec: {}`, obj: `metadata: {deletionTimestamp: "2024-01-01T00:00:00Z"}, spec: {}`, want: map[int][]string{
		28: {`metadata.deletionTimestamp: Invalid value: 2024-01-01 00:00:00 +0000 UTC: field is immutable`, `metadata.deletionTimestamp: Invalid value: 2024-01-01 00:00:00 +0000 UTC: field is immutable`},
		34: {`metadata.deletionTimestamp: Invalid value: "2024-01-01T00:00:00Z": field is immutable`, `metadata.deletionTimestamp: Invalid value: "2024-01-01T00:00:00Z": field is immutable`},
	}},
}

// Three checks of an update report the same cause.
func thrice(cause string) []string { return []string{cause, cause, cause} }
