package print

// The subset of SARIF 2.1.0 that Celadon writes.

type (
	sarifRun struct {
		ColumnKind  string            `json:"columnKind"`
		Invocations []sarifInvocation `json:"invocations"`
		Tool        sarifTool         `json:"tool"`
	}
	sarifTool struct {
		Driver sarifDriver `json:"driver"`
	}
	sarifDriver struct {
		InformationURI string      `json:"informationUri"`
		Name           string      `json:"name"`
		Rules          []sarifRule `json:"rules,omitempty"`
		Version        string      `json:"version,omitempty"`
	}
	sarifRule struct {
		HelpURI          string    `json:"helpUri,omitempty"`
		ID               string    `json:"id"`
		ShortDescription sarifText `json:"shortDescription"`
	}
	sarifText struct {
		Text string `json:"text"`
	}
	sarifInvocation struct {
		ExecutionSuccessful bool                `json:"executionSuccessful"`
		Notifications       []sarifNotification `json:"toolExecutionNotifications,omitempty"`
	}
	sarifNotification struct {
		Level   string    `json:"level"`
		Message sarifText `json:"message"`
	}
	sarifResult struct {
		Level               string            `json:"level"`
		Locations           []sarifLocation   `json:"locations"`
		Message             sarifText         `json:"message"`
		PartialFingerprints map[string]string `json:"partialFingerprints"`
		RuleID              string            `json:"ruleId"`
		RuleIndex           int               `json:"ruleIndex"`
		// Suppressions are reasons to ignore the result.
		Suppressions []sarifSuppression `json:"suppressions,omitempty"`
	}
	sarifSuppression struct {
		Kind          string `json:"kind"`
		Justification string `json:"justification"`
	}
	sarifLocation struct {
		PhysicalLocation sarifPhysical `json:"physicalLocation"`
	}
	sarifPhysical struct {
		ArtifactLocation sarifArtifact `json:"artifactLocation"`
		ContextRegion    *sarifRegion  `json:"contextRegion,omitempty"`
		Region           *sarifRegion  `json:"region,omitempty"`
	}
	sarifArtifact struct {
		URI string `json:"uri"`
	}
	// sarifRegion is a region of a file. Lines and columns start at 1.
	sarifRegion struct {
		Snippet     *sarifText `json:"snippet,omitempty"`
		StartColumn int        `json:"startColumn,omitempty"`
		StartLine   int        `json:"startLine"`
	}
)
