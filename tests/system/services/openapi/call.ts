// What a caller writes with the generated types; compiling it is the test.
import type { paths, components, webhooks } from "./schema.js";

type Render = paths["/v2/pdf"]["post"];
type Query = NonNullable<Render["parameters"]["query"]>;
const query: Query = { template: "service-invoice" };

type Job = components["schemas"]["Job"];
const status: Job["status"] = "succeeded";
// @ts-expect-error no such status
const wrong: Job["status"] = "lost";

type Failure = Render["responses"][404]["content"]["application/json"];
const code = (failure: Failure): string | undefined => failure.data?.code;

type Event = webhooks["job.succeeded"]["post"]["requestBody"]["content"]["application/json"];
const pages = (event: Event): number | undefined => event.data.pages;

export { query, status, wrong, code, pages };
