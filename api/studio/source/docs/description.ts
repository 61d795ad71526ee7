/** What the page reads of the OpenAPI description. */

export interface Schema {
  $ref?: string;
  description?: string;
  items?: Schema;
  properties?: Record<string, Schema>;
  required?: string[];
  enum?: unknown[];
  minimum?: number;
  maximum?: number;
  minLength?: number;
  maxLength?: number;
  default?: unknown;
}

export interface Parameter {
  name: string;
  in: "path" | "query" | "header";
  required: boolean;
  description: string;
  schema: Schema;
  example?: unknown;
}

type Content = Record<string, { schema: Schema; example?: unknown }>;

export interface Body {
  description?: string;
  required: boolean;
  content: Content;
}

export interface Response {
  description: string;
  content: Content;
}

export interface Sample {
  label: string;
  source: string;
}

interface Written {
  operationId: string;
  tags: string[];
  summary: string;
  description: string;
  parameters: Parameter[];
  requestBody?: Body;
  responses: Record<string, Response | { $ref: string }>;
  security: Record<string, string[]>[];
  "x-codeSamples": Sample[];
}

export interface Description {
  info: { title: string; version: string; description: string };
  tags: { name: string; "x-displayName": string; description: string }[];
  paths: Record<string, Record<string, Written>>;
  webhooks: Record<string, { post: Written }>;
  components: { schemas: Record<string, Schema>; responses: Record<string, Response> };
}

export interface Operation {
  id: string;
  method: string;
  path: string;
  tag: string;
  summary: string;
  description: string;
  parameters: Parameter[];
  body: Body | undefined;
  responses: [string, Response][];
  scopes: string[];
  needsKey: boolean;
  samples: Sample[];
  /** What the search looks in. */
  text: string;
}

/** List the operations in the order of their groups. */
export function listOperations({ tags, paths, components }: Description): Operation[] {
  const find = (response: Response | { $ref: string }): Response =>
    "$ref" in response
      ? (components.responses[response.$ref.split("/").at(-1) ?? ""] ?? { description: "", content: {} })
      : response;
  const all = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, each]): Operation => ({
      id: each.operationId,
      method,
      path,
      tag: each.tags[0] ?? "",
      summary: each.summary,
      description: each.description,
      parameters: each.parameters,
      body: each.requestBody,
      responses: Object.entries(each.responses).map(([status, response]) => [status, find(response)]),
      scopes: [...new Set(each.security.flatMap((one) => Object.values(one).flat()))],
      needsKey: each.security.length > 0,
      samples: each["x-codeSamples"],
      text: [each.operationId, method, path, each.summary, each.description, ...each.parameters.map(({ name }) => name)]
        .join(" ")
        .toLowerCase(),
    })),
  );
  return tags.flatMap(({ name }) => all.filter((each) => each.tag === name));
}

/** Return the value of a parameter: the typed one, else the example. */
export function valueOf(parameter: Parameter, values: Record<string, string>): string {
  return values[parameter.name] || String(parameter.example ?? "");
}
