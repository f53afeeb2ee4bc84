/** A line of the customer's document that states something, and the tests that hold it: `room/file: beginning of the name`. */
interface Statement {
  section: string
  text: string
  tests: string[]
}

/** Every one of them, in the order of test/spec/platform-api.txt. */
export const statements: Statement[] = [
  {
    section: 'Deployment Platform REST API',
    text: 'This document covers the whole service: purpose, resources, states, endpoints, authentication, events, errors, limits and versioning. Base address: {base_url}. The stable surface is mounted under `/v1`; every path below is relative to {base_url}. Request and response bodies are JSON unless an endpoint says otherwise.',
    tests: [
      'http/openapi: has every operation of the customer, and none of the instance',
      'http/order: %s answers at its path and at its alias, with the same rules',
    ],
  },
  {
    section: 'What the service does',
    text: 'The service is a deployment platform. Through its REST API a client can:',
    tests: ['api/generated-client: has every operation'],
  },
  {
    section: 'What the service does',
    text: "- create, configure, stop and delete projects, and manage a project's edge cache;",
    tests: [
      'api/generated-client: compiles strictly and does the main job: create, variables, upload, wait, read, purge',
      'api/generated-client: deletes, and what is not in the contract does not compile',
    ],
  },
  {
    section: 'What the service does',
    text: '- trigger, retry, cancel and roll back deployments (builds), and read metrics, logs and screenshots;',
    tests: ['api/matrix: %s', 'api/deployments: 201 with id, status and the whole deployment'],
  },
  {
    section: 'What the service does',
    text: '- attach custom domains, verify them, search for and buy a domain through the service;',
    tests: ['api/domains: 201 pending, with all that the contract names; it does not route yet', 'api/matrix: %s'],
  },
  { section: 'What the service does', text: '- manage per-environment variables;', tests: ['api/env-vars: 201 for one, with the defaults'] },
  {
    section: 'What the service does',
    text: '- read plan and trial state, capture a card and manage the subscription;',
    tests: ['billing/billing: card, basic monthly, pro yearly, canceled, starter'],
  },
  {
    section: 'What the service does',
    text: '- provision, inspect and drop one isolated relational database per project;',
    tests: ['api/databases: 201 with all that the contract names; no deployment where none was'],
  },
  {
    section: 'What the service does',
    text: '- mint, list and revoke API tokens;',
    tests: ['api/tokens: mine alone, newest first, never the token itself nor what a run signs in with'],
  },
  {
    section: 'What the service does',
    text: '- upload a `.zip` or `.tar.gz` of source and enqueue a build.',
    tests: ['api/uploads: 201 as %s, whichever of the two it is'],
  },
  {
    section: 'What the service does',
    text: 'There are eight resource groups and 45 operations in total:',
    tests: ['http/description: has no operation that the customer does not count', 'api/matrix: asked every cell'],
  },
  { section: 'What the service does', text: '| Projects | 10 |', tests: ['http/description: has no operation that the customer does not count'] },
  { section: 'What the service does', text: '| Deployments | 11 |', tests: ['http/description: has no operation that the customer does not count'] },
  { section: 'What the service does', text: '| Domains | 9 |', tests: ['http/description: has no operation that the customer does not count'] },
  {
    section: 'What the service does',
    text: '| Environment variables | 4 |',
    tests: ['http/description: has no operation that the customer does not count'],
  },
  { section: 'What the service does', text: '| Billing | 4 |', tests: ['http/description: has no operation that the customer does not count'] },
  { section: 'What the service does', text: '| Databases | 3 |', tests: ['http/description: has no operation that the customer does not count'] },
  { section: 'What the service does', text: '| API tokens | 3 |', tests: ['http/description: has no operation that the customer does not count'] },
  { section: 'What the service does', text: '| Uploads | 1 |', tests: ['http/description: has no operation that the customer does not count'] },
  {
    section: 'What the service does',
    text: 'A project is visible to its owner and to members of a team of the owning account.',
    tests: [
      'api/visibility: %s: gets what the owner gets, at both paths',
      'api/visibility: %s: a project that is not theirs is one that does not exist',
    ],
  },
  {
    section: 'Project',
    text: 'All fields are always present in responses; no other fields appear.',
    tests: ['api/projects: 201 with the whole project and its defaults', 'http/openapi: says of a project that nothing else appears'],
  },
  { section: 'Project', text: '| id | string | |', tests: ['api/projects: 201 with the whole project and its defaults'] },
  { section: 'Project', text: '| name | string | |', tests: ['api/projects: 201 with the whole project and its defaults'] },
  {
    section: 'Project',
    text: '| slug | string | pattern `^[a-z0-9][a-z0-9-]{1,48}[a-z0-9]$` |',
    tests: [
      'api/projects: 201 with the whole project and its defaults',
      'api/projects: 400 for %s',
      'http/description: of %s are what they illustrate',
    ],
  },
  {
    section: 'Project',
    text: '| repo_url | string or null | URI |',
    tests: ['api/projects: 201 with the whole project and its defaults', 'api/projects: 201 with a repository and a branch'],
  },
  { section: 'Project', text: '| repo_branch | string | |', tests: ['api/projects: 201 with the whole project and its defaults'] },
  {
    section: 'Project',
    text: '| is_connected | boolean | whether a Git repository is linked |',
    tests: ['api/projects: 201 with the whole project and its defaults', 'api/projects: 201 with a repository and a branch'],
  },
  { section: 'Project', text: '| node_version | string | |', tests: ['api/projects: 201 with the whole project and its defaults'] },
  { section: 'Project', text: '| install_command | string | |', tests: ['api/projects: 201 with the whole project and its defaults'] },
  { section: 'Project', text: '| build_command | string | |', tests: ['api/projects: 201 with the whole project and its defaults'] },
  { section: 'Project', text: '| root_directory | string | |', tests: ['api/projects: 201 with the whole project and its defaults'] },
  { section: 'Project', text: '| memory_limit_mb | number | |', tests: ['api/projects: 201 with the whole project and its defaults'] },
  { section: 'Project', text: '| port | number or null | platform-managed |', tests: ['api/projects: 201 with the whole project and its defaults'] },
  {
    section: 'Project',
    text: '| status | string | lifecycle status; values named: created, building, live, inactive; the list continues beyond these (full list: not shown) |',
    tests: [
      'api/projects: 201 with the whole project and its defaults',
      'api/projects: stop is 200 however often',
      'api/deployments: 201 with id, status and the whole deployment',
    ],
  },
  { section: 'Project', text: '| always_warm | boolean | |', tests: ['api/projects: 201 with the whole project and its defaults'] },
  {
    section: 'Project',
    text: '| is_cold | boolean | |',
    tests: [
      'api/projects: 201 with the whole project and its defaults',
      'api/metrics: a cold start once, however many wait for it; an app that sleeps uses nothing',
    ],
  },
  { section: 'Project', text: '| caching_enabled | boolean | |', tests: ['api/projects: 201 with the whole project and its defaults'] },
  {
    section: 'Project',
    text: '| has_purge_token | boolean | |',
    tests: ['api/projects: 201 with the whole project and its defaults', 'api/cache: is shown once, opens the webhook, and is nowhere in the clear'],
  },
  {
    section: 'Project',
    text: '| last_request_at | string (date-time) or null | |',
    tests: ['api/projects: 201 with the whole project and its defaults', 'api/visibility: changed nothing'],
  },
  { section: 'Project', text: '| created_at | string (date-time) | |', tests: ['api/projects: 201 with the whole project and its defaults'] },
  { section: 'Project', text: '| updated_at | string (date-time) | |', tests: ['api/projects: 201 with the whole project and its defaults'] },
  { section: 'Environment variable', text: '| id | string | |', tests: ['api/env-vars: 201 for one, with the defaults'] },
  {
    section: 'Environment variable',
    text: '| key | string | immutable; pattern `^[A-Za-z_][A-Za-z0-9_]*$`, 1-200 chars |',
    tests: [
      'api/env-vars: 201 for one, with the defaults',
      'api/env-vars: 400 for %s, which names the field',
      'api/env-vars: the longest that are allowed, 200 at once',
      'api/env-vars: a value is changed, key and environment are not',
    ],
  },
  {
    section: 'Environment variable',
    text: '| value | string | returned decrypted; at most 10000 chars |',
    tests: [
      'api/env-vars: 201 for one, with the defaults',
      'api/env-vars: 400 for %s, which names the field',
      'api/env-vars: a value is changed, key and environment are not',
    ],
  },
  {
    section: 'Environment variable',
    text: '| environment | string or null | `production`, `preview`, or null meaning both; immutable |',
    tests: [
      'api/env-vars: 201 for one, with the defaults',
      'api/env-vars: 400 for %s, which names the field',
      'api/env-vars: a value is changed, key and environment are not',
    ],
  },
  { section: 'Environment variable', text: '| is_sensitive | boolean | default false |', tests: ['api/env-vars: 201 for one, with the defaults'] },
  { section: 'Environment variable', text: '| created_at | string (date-time) | |', tests: ['api/env-vars: 201 for one, with the defaults'] },
  { section: 'Environment variable', text: '| updated_at | string (date-time) | |', tests: ['api/env-vars: 201 for one, with the defaults'] },
  {
    section: 'Environment variable',
    text: 'Uniqueness is by key plus environment.',
    tests: [
      'api/env-vars: 201 for one, with the defaults',
      'api/env-vars: 400 for %s, which names the field',
      'api/env-vars: a value is changed, key and environment are not',
    ],
  },
  {
    section: 'Database connection details',
    text: '| db_user | string | |',
    tests: ['api/databases: 201 with all that the contract names; no deployment where none was'],
  },
  {
    section: 'Database connection details',
    text: '| password | string | plaintext secret |',
    tests: ['api/databases: 201 with all that the contract names; no deployment where none was'],
  },
  {
    section: 'Database connection details',
    text: '| connection_string | string | DSN beginning `postgresql://`; also injected into the app as `DATABASE_URL` |',
    tests: ['api/databases: 201 with all that the contract names; no deployment where none was'],
  },
  {
    section: 'Database connection details',
    text: 'Additional fields may be present.',
    tests: ['api/databases: 201 with all that the contract names; no deployment where none was'],
  },
  {
    section: 'Cache-purge token',
    text: '| token | string | plaintext, returned only when generated |',
    tests: ['api/cache: is shown once, opens the webhook, and is nowhere in the clear'],
  },
  {
    section: 'Cache-purge token',
    text: '| webhook_url | string | address a CMS calls to purge cached pages |',
    tests: ['api/cache: is shown once, opens the webhook, and is nowhere in the clear'],
  },
  { section: 'Domain', text: '| id | string | |', tests: ['api/domains: 201 pending, with all that the contract names; it does not route yet'] },
  {
    section: 'Domain',
    text: '| hostname | string | |',
    tests: ['api/domains: 201 pending, with all that the contract names; it does not route yet'],
  },
  {
    section: 'Domain',
    text: '| status | string | `pending`, `verified`, `failed`, `transfer_requested` |',
    tests: [
      'api/domains: 201 pending, with all that the contract names; it does not route yet',
      'api/domains: 200 verified when the A record leads here: it routes at once, on HTTP and in the list of local names',
      'api/domains: 200 failed when it leads elsewhere, and why; mended, it is verified; led away again, it routes no more',
    ],
  },
  {
    section: 'Domain',
    text: '| verified_at | date-time or null | |',
    tests: [
      'api/domains: 201 pending, with all that the contract names; it does not route yet',
      'api/domains: 200 verified when the A record leads here: it routes at once, on HTTP and in the list of local names',
      'api/domains: 200 failed when it leads elsewhere, and why; mended, it is verified; led away again, it routes no more',
    ],
  },
  {
    section: 'Domain',
    text: '| last_check_at | date-time or null | |',
    tests: [
      'api/domains: 201 pending, with all that the contract names; it does not route yet',
      'api/domains: 200 verified when the A record leads here: it routes at once, on HTTP and in the list of local names',
      'api/domains: 200 failed when it leads elsewhere, and why; mended, it is verified; led away again, it routes no more',
    ],
  },
  {
    section: 'Domain',
    text: '| last_check_error | string or null | |',
    tests: [
      'api/domains: 201 pending, with all that the contract names; it does not route yet',
      'api/domains: 200 verified when the A record leads here: it routes at once, on HTTP and in the list of local names',
      'api/domains: 200 failed when it leads elsewhere, and why; mended, it is verified; led away again, it routes no more',
    ],
  },
  {
    section: 'Domain',
    text: '| created_at | date-time | |',
    tests: ['api/domains: 201 pending, with all that the contract names; it does not route yet'],
  },
  {
    section: 'Domain',
    text: '| account_owned_domain_id | string or null | set when the service registered the domain; null for bring-your-own |',
    tests: ['api/domains: 201 pending, with all that the contract names; it does not route yet'],
  },
  {
    section: 'Domain',
    text: '| expires_at | date-time or null | |',
    tests: ['api/domains: 201 pending, with all that the contract names; it does not route yet'],
  },
  {
    section: 'Domain',
    text: '| auto_renew | boolean or null | |',
    tests: ['api/domains: 201 pending, with all that the contract names; it does not route yet'],
  },
  {
    section: 'Domain',
    text: '| transfer_requested_at | date-time or null | |',
    tests: ['api/domains: 201 pending, with all that the contract names; it does not route yet'],
  },
  {
    section: 'Domain',
    text: '| project_id | string | present in list/get responses |',
    tests: ['api/domains: 200 of one project, and of all that the caller may see, newest first'],
  },
  {
    section: 'Domain',
    text: '| project_slug | string | present in list/get responses |',
    tests: ['api/domains: 200 of one project, and of all that the caller may see, newest first'],
  },
  {
    section: 'Domain',
    text: '| project_name | string | present in list/get responses |',
    tests: ['api/domains: 200 of one project, and of all that the caller may see, newest first'],
  },
  {
    section: 'Domain',
    text: 'The first eleven fields are always present; additional fields may appear. Registrar and registrant metadata are included when a single domain is fetched.',
    tests: [
      'api/domains: 201 pending, with all that the contract names; it does not route yet',
      'api/domains: 200 of one adds registrar and registrant',
    ],
  },
  {
    section: 'Billing status',
    text: '| processor_enabled | boolean | whether the payment processor is configured (neutral name for the processor flag) |',
    tests: ['billing/billing: card, basic monthly, pro yearly, canceled, starter'],
  },
  {
    section: 'Billing status',
    text: "| publishable_key | string or null | client key for the processor's card form; null when the processor is off |",
    tests: ['billing/billing: card, basic monthly, pro yearly, canceled, starter'],
  },
  {
    section: 'Billing status',
    text: '| has_payment_method | boolean | |',
    tests: ['billing/billing: card, basic monthly, pro yearly, canceled, starter'],
  },
  {
    section: 'Billing status',
    text: '| subscription_status | string or null | |',
    tests: ['billing/billing: card, basic monthly, pro yearly, canceled, starter'],
  },
  {
    section: 'Billing status',
    text: '| card | object or null | `last4` string, `brand` string or null |',
    tests: ['billing/billing: card, basic monthly, pro yearly, canceled, starter'],
  },
  {
    section: 'Billing status',
    text: '| plan | string | `starter`, `basic`, `pro`, `enterprise` |',
    tests: ['billing/billing: card, basic monthly, pro yearly, canceled, starter'],
  },
  {
    section: 'Billing status',
    text: '| trial_ends_at | date-time or null | |',
    tests: ['billing/billing: card, basic monthly, pro yearly, canceled, starter'],
  },
  {
    section: 'Billing status',
    text: '| billing_interval | string | `monthly` or `yearly` |',
    tests: ['billing/billing: card, basic monthly, pro yearly, canceled, starter'],
  },
  {
    section: 'Billing status',
    text: '| free_domain_credits | number | |',
    tests: ['billing/billing: card, basic monthly, pro yearly, canceled, starter'],
  },
  {
    section: 'Billing status',
    text: 'Additional fields may appear.',
    tests: ['billing/billing: card, basic monthly, pro yearly, canceled, starter'],
  },
  {
    section: 'Deployment',
    text: 'A newly enqueued deployment is returned as `deployment_id` (string) and `status` (string); extra fields may appear. Other fields of a deployment record, including the build log field of the detail view: not shown.',
    tests: ['api/deployments: 201 with id, status and the whole deployment', 'api/deployments: one of them has its log and its steps'],
  },
  {
    section: 'API token',
    text: 'A token is a bearer credential with a fixed prefix (written `svc_` in this document). Its record fields: not shown.',
    tests: ['api/tokens: 201: svc_, 43 random characters and a checksum, with the record; it signs in at once'],
  },
  {
    section: 'States and transitions',
    text: '| Project | POST stop | any; repeatable | `inactive` | runtime and routing stopped; project is not deleted; calling again has the same effect |',
    tests: ['api/projects: stop is 200 however often'],
  },
  {
    section: 'States and transitions',
    text: '| Project | redeploy | project is stopped | returns online | described as the way to bring a stopped project back |',
    tests: ['api/deployments: brings a stopped project back'],
  },
  {
    section: 'States and transitions',
    text: '| Project | DELETE | any | removed | tenant database, runtime, routing, bundles and project row are permanently deleted |',
    tests: [
      'api/projects: 204, then 404, and the slug is free again',
      'api/cache-life: nothing of the project is left, in the cache, its files or the log, and a new one of that name begins empty',
      'api/uploads: a retry and a roll-back build it again, and the project takes it along when it goes',
      'api/domains: with its project a name is gone, and free for others',
    ],
  },
  {
    section: 'States and transitions',
    text: '| Deployment | trigger, retry or rollback | see Endpoints | newly enqueued deployment | response carries `deployment_id` and `status` |',
    tests: [
      'api/deployments: 201 with id, status and the whole deployment',
      'api/deployments: retry builds the same commit again, as a child of the first',
      'api/deployments: rollback puts an earlier production deployment back, by a new one',
    ],
  },
  {
    section: 'States and transitions',
    text: '| Deployment | POST cancel | deployment is in flight | aborted | 200 `{ok}` |',
    tests: [
      'api/deployments: cancel ends what is on its way, and is 409 after the end',
      'billing/billing: card, basic monthly, pro yearly, canceled, starter',
    ],
  },
  {
    section: 'States and transitions',
    text: '| Deployment | POST cancel | deployment already in a terminal state | unchanged | 409 |',
    tests: [
      'api/deployments: cancel ends what is on its way, and is 409 after the end',
      'billing/billing: card, basic monthly, pro yearly, canceled, starter',
    ],
  },
  {
    section: 'States and transitions',
    text: '| Domain | POST add domain | hostname accepted | `pending` | A record must point to platform_ip, then verification is called |',
    tests: [
      'api/domains: 201 pending, with all that the contract names; it does not route yet',
      'api/domains: 200 verified when the A record leads here: it routes at once, on HTTP and in the list of local names',
    ],
  },
  {
    section: 'States and transitions',
    text: '| Subscription | POST cancel | stripe-side subscription exists | cancellation scheduled for period end | account demoted to `starter` once the payment processor finalizes it (via its webhook) |',
    tests: [
      'api/deployments: cancel ends what is on its way, and is 409 after the end',
      'billing/billing: card, basic monthly, pro yearly, canceled, starter',
    ],
  },
  {
    section: 'States and transitions',
    text: '| Subscription | POST confirm | card saved via setup intent | subscription started or switched | chosen plan and interval applied; defaults basic and monthly |',
    tests: ['billing/billing: card, basic monthly, pro yearly, canceled, starter'],
  },
  {
    section: 'States and transitions',
    text: 'Other project status transitions: not shown. Deployment state names and the set of terminal states: not shown. Domain transitions beyond initial `pending`: not shown.',
    tests: ['api/deployments: first the status, then everything, then the end'],
  },
  {
    section: 'Endpoints',
    text: 'All endpoints require authentication (see Authentication). `{slug}` is the project slug. Every error response uses the envelope in Errors. Paths for a project refer to the project named by `{slug}`; an unknown or inaccessible project gives 404.',
    tests: [
      'api/visibility: %s is 401, whether the project is there or not',
      'api/visibility: %s: a project that is not theirs is one that does not exist',
      'http/property: the answer is never a 500, has its own id and the rate headers, and a refusal is the envelope',
    ],
  },
  {
    section: 'Projects',
    text: '| POST | /v1/projects | body: `name` string 1-200 (required), `slug` string per slug pattern (required), `repo_url` string URI, `repo_branch` string 1-200; no other fields | 201 `{project}` | 402 plan project cap reached; 409 slug taken or reserved; 403 (documented; cause: not shown) |',
    tests: [
      'api/projects: 201 with the whole project and its defaults',
      'api/projects: 400 for %s',
      'api/projects: 409 for a slug that is taken, by whomever',
      'api/projects: 403 without a verified email, until it is verified',
    ],
  },
  {
    section: 'Projects',
    text: '| GET | /v1/projects | query: `limit` integer 1-100 default 50; `cursor` string | 200 `{projects: [Project], next_cursor: string or null}`, newest first | |',
    tests: [
      'api/projects: gives the newest 50 when nothing is asked, and null at the end',
      'api/projects: gives every one exactly once, whatever comes and goes meanwhile',
    ],
  },
  {
    section: 'Projects',
    text: '| GET | /v1/projects/{slug} | none | 200 `{project}` | 404 |',
    tests: ['api/projects: 200 with the project', 'api/projects: 404 for one that is not there'],
  },
  {
    section: 'Projects',
    text: '| PATCH | /v1/projects/{slug} | body, all optional, no other fields: `name` string 1-200; `repo_url` URI string or null; `repo_branch` string 1-200; `node_version` string 1-20; `install_command` string 1-500; `build_command` string 1-500; `root_directory` string 1-500; `memory_limit_mb` integer 64-1024; `always_warm` boolean; `caching_enabled` boolean | 200 `{project}` | 400, 402, 404 |',
    tests: [
      'api/projects: 200 for %j, which stays',
      'api/projects: 400 for %j',
      'api/projects: memory is cut to the ceiling of the plan, and always_warm is 402 on starter',
      'api/projects: 404 for one that is not there',
    ],
  },
  {
    section: 'Projects',
    text: '| DELETE | /v1/projects/{slug} | none | 204, permanent | |',
    tests: ['api/projects: 204, then 404, and the slug is free again'],
  },
  {
    section: 'Projects',
    text: '| POST | /v1/projects/{slug}/stop | none | 200 `{ok: boolean, status: string}` | 404 |',
    tests: ['api/projects: stop is 200 however often'],
  },
  {
    section: 'Projects',
    text: '1. Creating a project requires a verified email and available capacity on the plan.',
    tests: [
      'api/projects: 403 without a verified email, until it is verified',
      'api/instance: emulate every plan, an unverified email and a missing card',
    ],
  },
  {
    section: 'Projects',
    text: '2. The project list includes projects of accounts whose team the caller belongs to.',
    tests: ['api/projects: has what the teams of the caller have, and nothing of others'],
  },
  {
    section: 'Projects',
    text: '3. `memory_limit_mb` is clamped to the plan ceiling on PATCH; `always_warm` requires a paid plan.',
    tests: [
      'api/projects: 200 for %j, which stays',
      'api/projects: 400 for %j',
      'api/projects: memory is cut to the ceiling of the plan, and always_warm is 402 on starter',
      'api/projects: 404 for one that is not there',
    ],
  },
  {
    section: 'Projects',
    text: '4. `slug`, `status` and `port` cannot be edited through PATCH.',
    tests: [
      'api/projects: 200 for %j, which stays',
      'api/projects: 400 for %j',
      'api/projects: memory is cut to the ceiling of the plan, and always_warm is 402 on starter',
      'api/projects: 404 for one that is not there',
    ],
  },
  {
    section: 'Edge cache',
    text: '| POST | /v1/projects/{slug}/cache/token | none | 201 `{token, webhook_url}` | 404 |',
    tests: ['api/cache: is shown once, opens the webhook, and is nowhere in the clear', 'api/matrix: %s'],
  },
  {
    section: 'Edge cache',
    text: '| POST | /v1/projects/{slug}/cache/purge-all | none | 200 `{ok: boolean, purged: number}` | 404, 502 |',
    tests: [
      'api/cache: takes out everything of the project and nothing of another, and is complete when it answers',
      'api/purge: that the cache refuses is 502 cache_purge_failed, and the log does not say that it was done',
      'api/matrix: %s',
    ],
  },
  {
    section: 'Edge cache',
    text: '| POST | /v1/projects/{slug}/cache/purge-tags | body `{tags: [string]}`, 1-50 items, each 1-128 chars (surrogate-key tags), required | 200 `{ok, purged: number}` | 404, 502 |',
    tests: [
      'api/cache: takes out what bears one of them, by either header, and leaves all else',
      'api/cache: 50 tags of 128 characters are taken',
      'api/purge: that the cache refuses is 502 cache_purge_failed, and the log does not say that it was done',
    ],
  },
  {
    section: 'Edge cache',
    text: '| GET | /v1/projects/{slug}/cache/log | none | 200, lists recent cache-purge events; response shape: not shown | |',
    tests: ['api/cache: comes newest first, a page at a time, to the last'],
  },
  {
    section: 'Edge cache',
    text: 'Generating a token when one exists rotates it: the earlier token is invalidated. The plaintext is returned only by this call.',
    tests: ['api/cache: of before is refused from the rotation on', 'api/cache: is the one and only, however many are made at once'],
  },
  {
    section: 'Databases',
    text: '| POST | /v1/projects/{slug}/database | 201 `{database: {db_user, password, connection_string}}` | 402 starter account without payment method; 404; 409 a database already exists |',
    tests: [
      'api/databases: 201 with all that the contract names; no deployment where none was',
      'api/databases: 409 database_exists',
      'api/databases: 402 payment_method_required on starter without a card, before 409; a card or a larger plan lets it be',
      'api/databases: 404 unknown project; 404 for one that is another’s',
    ],
  },
  {
    section: 'Databases',
    text: '| GET | /v1/projects/{slug}/database | 200 `{database: ...}` including plaintext password | 404 when none provisioned |',
    tests: ['api/databases: 200 to the team, password included', 'api/databases: 404 database_not_found where there is none'],
  },
  {
    section: 'Databases',
    text: '| DELETE | /v1/projects/{slug}/database | 204; drops the database and its role, permanently deleting its data | |',
    tests: ['api/databases: 204, then another database under another name'],
  },
  {
    section: 'Databases',
    text: 'No request body for any of the three. Provisioning injects the connection string into the app as `DATABASE_URL`.',
    tests: ['api/databases: 201 redeploys what is deployed, once', 'http/openapi: %s answers what is described'],
  },
  {
    section: 'Deployments',
    text: '| POST | /v1/projects/{slug}/deploy | none | 201 `{deployment_id, status}` | 400 project has no Git connection; 404 |',
    tests: ['api/deployments: 201 with id, status and the whole deployment', 'api/deployments: 400 without a repository; 404 comes before it'],
  },
  {
    section: 'Deployments',
    text: '| POST | /v1/projects/{slug}/deployments/{id}/retry | none | 201 `{deployment_id, status}` | 404 |',
    tests: ['api/deployments: retry builds the same commit again, as a child of the first', 'api/deployments: 404 for %s of what is not there'],
  },
  {
    section: 'Deployments',
    text: '| POST | /v1/projects/{slug}/deployments/{id}/cancel | none | 200 `{ok: boolean}` | 404; 409 deployment already terminal |',
    tests: ['api/deployments: cancel ends what is on its way, and is 409 after the end', 'api/deployments: 404 for %s of what is not there'],
  },
  {
    section: 'Deployments',
    text: '| POST | /v1/projects/{slug}/deployments/{id}/rollback | none | 201 `{deployment_id, status}` | 404; 409 for preview or branch deployments |',
    tests: [
      'api/deployments: rollback puts an earlier production deployment back, by a new one',
      'api/deployments: 409 for a rollback to what was never ready',
      'api/previews: its deployments are found by target and branch, and none of them can be rolled back to',
    ],
  },
  {
    section: 'Deployments',
    text: '| GET | /v1/projects/{slug}/deployments | query `limit` 1-100 default 50, `cursor` | 200, newest first, with `next_cursor` (null on last page); item shape: not shown | |',
    tests: ['api/deployments: newest first, by pages, filtered', 'api/deployments: 400 for %s'],
  },
  {
    section: 'Deployments',
    text: '| GET | /v1/projects/{slug}/deployments/{id} | none | 200 full detail including the build log; shape: not shown | |',
    tests: ['api/deployments: one of them has its log and its steps', 'api/deployments: 404 for one that is not there'],
  },
  {
    section: 'Deployments',
    text: '| GET | /v1/projects/{slug}/deployments/{id}/logs | none | 200 Server-Sent Events stream: history replay, live log lines, status; event format: not shown | |',
    tests: [
      'api/deployments: first the status, then everything, then the end',
      'api/deployments: resumes after the last event, by header or query, without a gap or a repeat; a foreign id gives everything',
    ],
  },
  {
    section: 'Deployments',
    text: '| GET | /v1/projects/{slug}/deployments/{id}/screenshot/{variant}.png | `variant` is `desktop` or `mobile` | 200 `image/png` | 404 until captured |',
    tests: ['screenshot/platform: 404 until they are', 'screenshot/platform: after a deployment is ready, and the dashboard is told'],
  },
  {
    section: 'Deployments',
    text: '| GET | /v1/projects/{slug}/previews | none | 200 lists currently open preview branches and their URLs; shape: not shown | |',
    tests: ['api/previews: 200 with none', 'api/previews: 200 with each open one, the newest change first'],
  },
  {
    section: 'Deployments',
    text: '| GET | /v1/projects/{slug}/metrics | query `range` enum `24h`, `7d`, `30d`, default `24h` (sets window and bucket size) | 200 bucketed request metrics plus cold-start and cache stats; shape: not shown | |',
    tests: [
      'api/metrics: every bucket of %s, on whole times, the one under way last',
      'api/metrics: 400 for the range “%s”',
      'api/metrics: a cold start once, however many wait for it; an app that sleeps uses nothing',
    ],
  },
  {
    section: 'Deployments',
    text: '| GET | /v1/projects/{slug}/runtime-logs | query `lines` initial backlog lines, 20-2000, default 200 | 200 Server-Sent Events stream of the app stdout and stderr, not JSON; event format: not shown | |',
    tests: ['api/deployments: plain lines for a plain client, and states by name', 'api/deployments: lines=19'],
  },
  {
    section: 'Deployments',
    text: '1. Trigger builds from the head of the linked Git repository.',
    tests: ['api/deployments: 201 with id, status and the whole deployment'],
  },
  {
    section: 'Deployments',
    text: '2. Retry creates a new build from the same commit as the given deployment.',
    tests: ['api/deployments: retry builds the same commit again, as a child of the first'],
  },
  {
    section: 'Deployments',
    text: '3. Rollback re-promotes a prior production deployment by rebuilding from its commit.',
    tests: ['api/deployments: rollback puts an earlier production deployment back, by a new one'],
  },
  {
    section: 'Deployments',
    text: '4. Cancel aborts an in-flight build.',
    tests: ['api/deployments: cancel ends what is on its way, and is 409 after the end'],
  },
  {
    section: 'Environment variables',
    text: '| GET | /v1/projects/{slug}/env-vars | none | 200 `{env_vars: [EnvVar]}` ordered by environment then key, values decrypted | 404 |',
    tests: ['api/visibility: %s: gets what the owner gets, at both paths', 'api/env-vars: 201 for one, with the defaults', 'api/matrix: %s'],
  },
  {
    section: 'Environment variables',
    text: '| POST | /v1/projects/{slug}/env-vars | single: `{key, value, environment, is_sensitive}` with `key` and `value` required, `environment` one of `production`, `preview`, null (default null), `is_sensitive` default false; or bulk: `{vars: [single...]}` with 1-200 items; no extra fields | 201 `{created: [{id, key, environment}], skipped: [{key, environment, reason}]}` | 404; 409 with the same body shape (condition: not shown) |',
    tests: [
      'api/env-vars: 201 for one, with the defaults',
      'api/env-vars: 400 for %s, which names the field',
      'api/env-vars: 201 for many: what is there or comes twice is skipped and said, never overwritten',
      'api/env-vars: 409 with the same fields when all are skipped',
      'api/env-vars: the longest that are allowed, 200 at once',
    ],
  },
  {
    section: 'Environment variables',
    text: '| PATCH | /v1/projects/{slug}/env-vars/{id} | `{value (required, max 10000), is_sensitive}` | 200 `{id}` | 404 |',
    tests: ['api/env-vars: a value is changed, key and environment are not', 'api/matrix: %s'],
  },
  { section: 'Environment variables', text: '| DELETE | /v1/projects/{slug}/env-vars/{id} | none | 204 | |', tests: ['api/matrix: %s'] },
  {
    section: 'Environment variables',
    text: 'Rules: duplicates (same key plus environment) are skipped and reported in `skipped`, never overwritten. Key and environment cannot be changed; delete and recreate instead. Adding or deleting a production variable triggers a redeploy.',
    tests: [
      'api/env-vars: 201 for many: what is there or comes twice is skipped and said, never overwritten',
      'api/env-vars: gets them at its next deployment; what production sees deploys it again, once per request',
      'api/env-vars: a value is changed, key and environment are not',
    ],
  },
  {
    section: 'Billing',
    text: '| GET | /v1/billing/status | none | 200 Billing status; always succeeds, including when the payment processor is not configured | |',
    tests: ['billing/billing: card, basic monthly, pro yearly, canceled, starter', 'api/matrix: %s'],
  },
  {
    section: 'Billing',
    text: '| POST | /v1/billing/setup-intent | none | 200 `{client_secret, customer_id}` for collecting a card in the browser | 503 processor not configured; 500 |',
    tests: [
      'billing/billing: card, basic monthly, pro yearly, canceled, starter',
      'api/matrix: %s',
      'billing/billing: a declined card: the reason, and no half of it',
    ],
  },
  {
    section: 'Billing',
    text: '| POST | /v1/billing/confirm | `{plan: basic/pro/enterprise (default basic), interval: monthly/yearly (default monthly)}`, no extra fields | 200 `{ok, plan, interval}` | 503 processor not configured; 500 |',
    tests: [
      'billing/billing: card, basic monthly, pro yearly, canceled, starter',
      'api/matrix: %s',
      'billing/billing: only plans that are paid for, and fields that are there',
      'billing/billing: a declined card: the reason, and no half of it',
    ],
  },
  {
    section: 'Billing',
    text: '| POST | /v1/billing/cancel | none | 200 `{ok}` | 503 processor not configured; 500 |',
    tests: [
      'billing/billing: card, basic monthly, pro yearly, canceled, starter',
      'api/matrix: %s',
      'billing/billing: a declined card: the reason, and no half of it',
    ],
  },
  {
    section: 'Billing',
    text: 'Confirm adopts the card saved through the setup intent as default.',
    tests: ['billing/billing: pays by the card that was saved last'],
  },
  {
    section: 'Domains',
    text: '| GET | /v1/domains | none | 200 `{platform_ip, purchase_enabled, domains: [Domain]}` across all accessible projects | |',
    tests: ['api/domains: 200 of one project, and of all that the caller may see, newest first'],
  },
  {
    section: 'Domains',
    text: '| GET | /v1/domains/{id} | none | 200 `{platform_ip, domain}` | 404 when caller does not own the parent project |',
    tests: ['api/domains: 200 of one adds registrar and registrant', 'api/domains: 404 for another’s, as for one that is not there, to the byte'],
  },
  {
    section: 'Domains',
    text: '| GET | /v1/projects/{slug}/domains | none | 200 `{platform_ip, purchase_enabled, domains}` for one project | 404 |',
    tests: ['api/domains: 200 of one project, and of all that the caller may see, newest first'],
  },
  {
    section: 'Domains',
    text: '| POST | /v1/projects/{slug}/domains | `{hostname}` required; string 3-253 chars, pattern `^[a-z0-9](?:[a-z0-9-]*[a-z0-9])?(\\.[a-z0-9](?:[a-z0-9-]*[a-z0-9])?)+$` | 201 `{domain}` containing at least id, hostname, status, created_at (remaining fields of the returned record: not shown) | 402 on a starter account without a payment method |',
    tests: [
      'api/domains: 201 pending, with all that the contract names; it does not route yet',
      'api/domains: names of every kind that are none of these are taken',
      'api/domains: 402 on starter without a card, after 400 and before 409; with a card it is taken',
    ],
  },
  {
    section: 'Domains',
    text: "`platform_ip` is the address to which a custom hostname's A record must point. The added domain starts in `pending`; after the A record is set, a verify call is made.",
    tests: [
      'api/domains: 200 verified when the A record leads here: it routes at once, on HTTP and in the list of local names',
      'api/domains: platform_ip is the setting’s, when there is one',
    ],
  },
  {
    section: 'Domains',
    text: 'The other five domain operations (verify, search, purchase and the rest of the nine): not shown.',
    tests: ['api/matrix: %s', 'http/openapi: %s answers what is described'],
  },
  {
    section: 'API tokens and uploads',
    text: 'Three API-token operations (mint, list, revoke): not shown. One upload operation (accepts `.zip` or `.tar.gz` source and enqueues a build): not shown.',
    tests: [
      'api/tokens: mine alone, newest first, never the token itself nor what a run signs in with',
      'api/tokens: 204, and refused from the next request on, though it was in use a moment ago',
      'api/uploads: 201 as %s, whichever of the two it is',
      'api/uploads: 201 as the field of a form, and it goes live',
    ],
  },
  {
    section: 'Pagination (all list endpoints that take it)',
    text: '1. `limit` integer 1-100, default 50.',
    tests: ['api/projects: gives the newest 50 when nothing is asked, and null at the end', 'api/projects: limit=0'],
  },
  {
    section: 'Pagination (all list endpoints that take it)',
    text: "2. `cursor` opaque string taken from the previous response's `next_cursor`; omit for the first page.",
    tests: ['api/projects: gives every one exactly once, whatever comes and goes meanwhile', 'api/projects: limit=0'],
  },
  {
    section: 'Pagination (all list endpoints that take it)',
    text: '3. Results are newest first; `next_cursor` is null on the last page.',
    tests: [
      'api/projects: gives the newest 50 when nothing is asked, and null at the end',
      'api/projects: a page that is full to the last has no next one',
    ],
  },
  {
    section: 'Pagination (all list endpoints that take it)',
    text: '4. With neither parameter the newest page is returned.',
    tests: ['api/projects: gives the newest 50 when nothing is asked, and null at the end'],
  },
  {
    section: 'Authentication',
    text: "1. Every request carries `Authorization: Bearer <API_TOKEN>`. The token begins with the service's fixed prefix (written `svc_` here).",
    tests: [
      'api/visibility: %s is 401, whether the project is there or not',
      'api/tokens: 201: svc_, 43 random characters and a checksum, with the record; it signs in at once',
    ],
  },
  {
    section: 'Authentication',
    text: '2. A token is created in the dashboard under Account, API tokens, and is displayed once.',
    tests: [
      'e2e/account: a token is made, shown this once, used, and revoked',
      'api/tokens: mine alone, newest first, never the token itself nor what a run signs in with',
    ],
  },
  {
    section: 'Authentication',
    text: '3. The dashboard session cookie is also accepted, so browser calls need no token.',
    tests: [
      'http/order: the session cookie signs in, whatever other ports of this host put beside it',
      'api/tokens: a browser’s session makes, lists and revokes them too',
    ],
  },
  {
    section: 'Authentication',
    text: '4. Unauthenticated requests are allowed only at the lower rate limit (see Limits).',
    tests: ['http/rate-limit: lets 30 of an address pass without sign-in; a wrong token and borrowed addresses are no way around'],
  },
  {
    section: 'Authentication',
    text: '5. Owners can read their own secrets back (environment variable values, database password).',
    tests: ['api/env-vars: 201 for one, with the defaults', 'api/databases: 200 to the team, password included'],
  },
  { section: 'Authentication', text: '6. Token scopes or permission levels: not shown.', tests: ['api/matrix: %s'] },
  {
    section: 'Events',
    text: '1. The service exposes two Server-Sent Events streams: build logs for a deployment (history replay, live lines, status) and runtime logs of a running app.',
    tests: [
      'api/deployments: first the status, then everything, then the end',
      'api/deployments: plain lines for a plain client, and states by name',
    ],
  },
  {
    section: 'Events',
    text: '2. Inbound: the payment processor calls a webhook that finalizes a scheduled cancellation and demotes the account to `starter`.',
    tests: ['billing/billing: card, basic monthly, pro yearly, canceled, starter'],
  },
  {
    section: 'Events',
    text: '3. Outbound: a per-project cache-purge webhook address (`webhook_url`) is the endpoint that a CMS calls, authenticated by the cache-purge token; purge events are recorded in the cache log.',
    tests: [
      'api/cache: purges all, tags or addresses, and the log says that it was it',
      'api/cache: of another project is refused just like a wrong one',
    ],
  },
  {
    section: 'Events',
    text: '4. Outbound webhook events sent by the service to customers: not shown.',
    tests: ['http/description: has no operation that the customer does not count'],
  },
  {
    section: 'Errors',
    text: 'All errors use one JSON envelope:',
    tests: [
      'http/property: the answer is never a 500, has its own id and the rate headers, and a refusal is the envelope',
      'http/openapi: lists every error code',
    ],
  },
  {
    section: 'Errors',
    text: '| error | string | required; stable machine-readable code (for example a not-found code such as `project_not_found`) |',
    tests: [
      'http/property: the answer is never a 500, has its own id and the rate headers, and a refusal is the envelope',
      'http/openapi: lists every error code',
    ],
  },
  {
    section: 'Errors',
    text: '| message | string | human-readable explanation; optional |',
    tests: [
      'http/property: the answer is never a 500, has its own id and the rate headers, and a refusal is the envelope',
      'http/openapi: lists every error code',
    ],
  },
  {
    section: 'Errors',
    text: '| issues | array of `{path: string, message: string}` | field-level validation problems; present on 400 `invalid_input` |',
    tests: [
      'http/order: names every field that is not in order',
      'http/property: the answer is never a 500, has its own id and the rate headers, and a refusal is the envelope',
    ],
  },
  {
    section: 'Errors',
    text: '| request_id | string | form `req_<id>`; quote to support |',
    tests: [
      'http/property: the answer is never a 500, has its own id and the rate headers, and a refusal is the envelope',
      'http/order: are new for every request and never the client’s',
    ],
  },
  {
    section: 'Errors',
    text: 'Every response, success or error, also carries the `X-Request-Id` header.',
    tests: [
      'http/property: the answer is never a 500, has its own id and the rate headers, and a refusal is the envelope',
      'http/order: are new for every request and never the client’s',
    ],
  },
  {
    section: 'Errors',
    text: '| 400 | validation failure (`invalid_input`, with `issues`); deploy on a project with no Git connection |',
    tests: ['http/order: names every field that is not in order', 'api/deployments: 400 without a repository; 404 comes before it'],
  },
  {
    section: 'Errors',
    text: '| 402 | plan project cap reached; payment method needed on starter (custom domain, database); plan limit on a project update |',
    tests: [
      'api/instance: emulate every plan, an unverified email and a missing card',
      'api/databases: 402 payment_method_required on starter without a card, before 409; a card or a larger plan lets it be',
      'api/domains: 402 on starter without a card, after 400 and before 409; with a card it is taken',
      'api/projects: memory is cut to the ceiling of the plan, and always_warm is 402 on starter',
    ],
  },
  {
    section: 'Errors',
    text: '| 403 | documented for project creation |',
    tests: ['api/projects: 403 without a verified email, until it is verified'],
  },
  {
    section: 'Errors',
    text: '| 404 | unknown or inaccessible resource; database not provisioned; screenshot not yet captured |',
    tests: [
      'api/visibility: %s: a project that is not theirs is one that does not exist',
      'api/databases: 404 database_not_found where there is none',
      'api/matrix: %s',
    ],
  },
  {
    section: 'Errors',
    text: '| 409 | slug taken or reserved; database already exists; cancel of a terminal deployment; rollback of a preview or branch deployment |',
    tests: [
      'api/projects: 409 for a slug that is taken, by whomever',
      'api/databases: 409 database_exists',
      'api/deployments: cancel ends what is on its way, and is 409 after the end',
      'api/previews: its deployments are found by target and branch, and none of them can be rolled back to',
    ],
  },
  {
    section: 'Errors',
    text: '| 429 | rate limit exceeded; `Retry-After` gives seconds to wait |',
    tests: ['http/rate-limit: lets exactly 300 of an account pass, and says when to come back'],
  },
  { section: 'Errors', text: '| 500 | billing server error |', tests: ['billing/billing: a declined card: the reason, and no half of it'] },
  {
    section: 'Errors',
    text: '| 502 | cache purge failure |',
    tests: ['api/purge: that the cache refuses is 502 cache_purge_failed, and the log does not say that it was done'],
  },
  { section: 'Errors', text: '| 503 | payment processor not configured |', tests: ['api/matrix: %s'] },
  {
    section: 'Errors',
    text: 'The complete list of error code strings: not shown.',
    tests: [
      'http/property: the answer is never a 500, has its own id and the rate headers, and a refusal is the envelope',
      'http/openapi: lists every error code',
    ],
  },
  {
    section: 'Limits',
    text: '| Authenticated requests | 300 per minute |',
    tests: [
      'http/rate-limit: lets exactly 300 of an account pass, and says when to come back',
      'http/rate-limit: lets exactly %i %s pass over %i connections, and the headers agree',
    ],
  },
  {
    section: 'Limits',
    text: '| Unauthenticated requests | 30 per minute |',
    tests: ['http/rate-limit: lets 30 of an address pass without sign-in; a wrong token and borrowed addresses are no way around'],
  },
  {
    section: 'Limits',
    text: '| Page size | 1-100, default 50 |',
    tests: ['api/projects: gives the newest 50 when nothing is asked, and null at the end', 'api/projects: limit=0'],
  },
  {
    section: 'Limits',
    text: '| Project name | 1-200 chars; slug 3-50 chars per pattern |',
    tests: ['api/projects: 400 for %s', 'api/projects: 201 with the whole project and its defaults'],
  },
  {
    section: 'Limits',
    text: '| memory_limit_mb | integer 64-1024, clamped to plan ceiling |',
    tests: ['api/projects: memory is cut to the ceiling of the plan, and always_warm is 402 on starter', 'api/projects: 400 for %j'],
  },
  {
    section: 'Limits',
    text: '| Env var key | 1-200 chars; value max 10000 chars; bulk create 1-200 items |',
    tests: ['api/env-vars: the longest that are allowed, 200 at once', 'api/env-vars: 400 for %s, which names the field'],
  },
  { section: 'Limits', text: '| Purge tags | 1-50 tags, each 1-128 chars |', tests: ['api/cache: 50 tags of 128 characters are taken'] },
  { section: 'Limits', text: '| Runtime log backlog (`lines`) | 20-2000, default 200 |', tests: ['api/deployments: lines=19'] },
  { section: 'Limits', text: '| Hostname | 3-253 chars |', tests: ['api/domains: names of every kind that are none of these are taken'] },
  {
    section: 'Limits',
    text: 'Rate-limit headers on every response:',
    tests: [
      'http/property: the answer is never a 500, has its own id and the rate headers, and a refusal is the envelope',
      'http/rate-limit: lets exactly 300 of an account pass, and says when to come back',
    ],
  },
  {
    section: 'Limits',
    text: '| X-RateLimit-Limit | requests allowed in the current window |',
    tests: [
      'http/property: the answer is never a 500, has its own id and the rate headers, and a refusal is the envelope',
      'http/rate-limit: lets exactly 300 of an account pass, and says when to come back',
    ],
  },
  {
    section: 'Limits',
    text: '| X-RateLimit-Remaining | requests left before a 429 |',
    tests: [
      'http/property: the answer is never a 500, has its own id and the rate headers, and a refusal is the envelope',
      'http/rate-limit: lets exactly 300 of an account pass, and says when to come back',
    ],
  },
  {
    section: 'Limits',
    text: '| X-RateLimit-Reset | Unix seconds until the window resets |',
    tests: [
      'http/property: the answer is never a 500, has its own id and the rate headers, and a refusal is the envelope',
      'http/rate-limit: lets exactly 300 of an account pass, and says when to come back',
    ],
  },
  {
    section: 'Limits',
    text: '| Retry-After | on a 429, seconds to wait |',
    tests: [
      'http/property: the answer is never a 500, has its own id and the rate headers, and a refusal is the envelope',
      'http/rate-limit: lets exactly 300 of an account pass, and says when to come back',
    ],
  },
  {
    section: 'Limits',
    text: 'Numeric plan caps (project count, per-plan memory ceiling): not shown.',
    tests: ['api/projects: memory is cut to the ceiling of the plan, and always_warm is 402 on starter', 'api/projects: 400 for %j'],
  },
  {
    section: 'Versioning',
    text: '1. The stable, documented surface is under `/v1`; the machine-readable description is OpenAPI 3.1, interface version 1.0.0.',
    tests: ['http/openapi: is OpenAPI 3.1, version 1.0.0, and passes redocly lint', 'http/description: is valid for a second validator too'],
  },
  {
    section: 'Versioning',
    text: '2. Older unversioned paths (no `/v1` prefix) remain working as back-compat aliases; new integrations target `/v1`.',
    tests: ['http/order: %s answers at its path and at its alias, with the same rules', 'api/matrix: %s'],
  },
  {
    section: 'Versioning',
    text: '3. Deprecation and removal policy for `/v1` or for the aliases: not shown.',
    tests: ['http/order: %s answers at its path and at its alias, with the same rules', 'api/matrix: %s'],
  },
]
