/** YAML, JSON, or values: one document or several. */
export type Documents = string | object | object[];

export interface Request {
  crd: Documents;
  /** The Kubernetes version to emulate, such as "1.33". The default is the newest. */
  kubeVersion?: string;
}

export interface ObjectRequest extends Request {
  object: Documents;
  /** The stored objects that the objects update. */
  old?: Documents;
  subresource?: "status";
}

export interface CheckRequest extends Omit<ObjectRequest, "subresource"> {
  /** Admission policies, with their bindings and params. */
  policies?: Documents;
  subresource?: "status" | "scale";
}

export interface EvalRequest extends Request, Partial<ObjectRequest> {
  crd: Documents;
  /** A CEL expression. */
  expression: string;
  /** The path of self, such as "spec.hosts[0]". The default is the object. */
  at?: string;
  /** The version of the CRD. The default is the object's. */
  version?: string;
}

export interface Cause {
  reason: string;
  field: string;
  message: string;
  rule?: string;
  line?: number;
  column?: number;
  hint?: string;
  [other: string]: unknown;
}

export interface CheckedObject {
  apiVersion: string;
  kind: string;
  namespace: string;
  name: string;
  verdict: string;
  causes: Cause[];
  warnings: string[];
  [other: string]: unknown;
}

/** The report of celadon check -o json: docs/check-report.schema.json. */
export interface CheckReport {
  kind: "CheckReport";
  summary: { checked: number; valid: number; invalid: number; [other: string]: unknown };
  objects: CheckedObject[];
  [other: string]: unknown;
}

export interface VettedCRD {
  name: string;
  accepted: boolean;
  causes: Cause[];
  [other: string]: unknown;
}

/** The report of celadon vet -o json: docs/vet-report.schema.json. */
export interface VetReport {
  kind: "VetReport";
  summary: { crds: number; accepted: number; refused: number; [other: string]: unknown };
  crds: VettedCRD[];
  [other: string]: unknown;
}

/** The report of celadon eval -o json. */
export interface EvalReport {
  kind: "EvalReport";
  /** Absent if the expression has no value: see error. */
  value?: unknown;
  cel?: string;
  type?: string;
  cost: number;
  error?: { message: string; hint?: string; line?: number; column?: number };
  [other: string]: unknown;
}

/** Problems are inputs that cannot be read, CRDs included. Without any, the report is complete. */
export interface Result<Report> {
  report: Report;
  problems: string[];
}

/** Checks objects as an API server does. Throws an Error if a setting of the request is invalid. */
export function check(request: CheckRequest): Promise<Result<CheckReport>>;

/** Checks CRDs as an API server does, and looks for mistakes in their rules. */
export function vet(request: Request): Promise<Result<VetReport>>;

/** Evaluates an expression. Throws an Error if a document of the request cannot be read. */
declare function evaluate(request: EvalRequest): Promise<EvalReport>;
export { evaluate as eval };
