package finding

// A Webhook is an admission webhook whose rules and selectors match a request. Celadon never calls it.
type Webhook struct {
	Kind          string `json:"kind"`
	Configuration string `json:"configuration"`
	Webhook       string `json:"webhook"`
	// Called is set if a server calls it.
	Called bool `json:"called"`
	// Condition is the name of the first matchCondition that is false, and Error the error of matchConditions. A server then
	// does not call the webhook.
	Condition string `json:"condition,omitempty"`
	Error     string `json:"error,omitempty"`
	// Undecided is why it is not known whether the webhook is called.
	Undecided string `json:"undecided,omitempty"`
	// File and Line locate the webhook, if they are known.
	File string `json:"file,omitempty"`
	Line int    `json:"line,omitempty"`
}
