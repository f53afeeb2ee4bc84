import { openApiDocument } from './document.ts'
import type { OpenApiDocument } from './document.ts'
import type { OpenApiParameter } from './types.ts'
import type { OpenApiOperation, JsonSchema } from './types.ts'
import { escapeHtml, htmlPage } from '../html-page.ts'
import type { ApiResponse } from '../response.ts'

/** Human-readable documentation of the API, generated from the OpenAPI document. */
export function docsPage(): ApiResponse {
  const document = openApiDocument()
  const entries = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method: method.toUpperCase(), operation })),
  )
  entries.push({ path: '/hooks/cache/{slug}', method: 'POST', operation: document.webhooks.cachePurge.post })
  entries.push({ path: '/hooks/stripe', method: 'POST', operation: document.webhooks.stripe.post })
  const groups = document.tags.map(({ name }) => ({ name, entries: entries.filter(({ operation }) => operation.tags[0] === name) }))
  const schemaNames = Object.keys(document.components.schemas).filter((name) => !/(Request|Response)$/.test(name))

  const navigation = [
    ...groups.map(
      (group) =>
        `<strong>${escapeHtml(group.name)}</strong><ul>${group.entries.map(({ operation }) => `<li><a href="#${operation.operationId}">${escapeHtml(operation.summary)}</a></li>`).join('')}</ul>`,
    ),
    `<strong>Schemas</strong><ul>${schemaNames.map((name) => `<li><a href="#${name}">${name}</a></li>`).join('')}</ul>`,
  ].join('')
  const introduction = document.info.description
    .split('\n\n')
    .map((paragraph) => `<p>${renderInline(paragraph)}</p>`)
    .join('')
  const sections = groups
    .map((group) => `<h2>${escapeHtml(group.name)}</h2>${group.entries.map((entry) => renderOperation(entry, document)).join('')}`)
    .join('')
  const schemaSections = schemaNames
    .map((name) => `<article id="${name}"><h3>${name}</h3>${renderFields(document.components.schemas[name], document)}</article>`)
    .join('')

  return htmlPage(
    200,
    'The API of this instance',
    `<div class="layout"><nav aria-label="Operations">${navigation}</nav><div>${introduction}<p>For programs: <a href="/openapi.json">openapi.json</a> (OpenAPI 3.1).</p>${sections}<h2>Schemas</h2>${schemaSections}</div></div>`,
    { wide: true },
  )
}

function renderOperation(
  { path, method, operation }: { path: string; method: string; operation: OpenApiOperation },
  document: OpenApiDocument,
): string {
  const request = operation.requestBody?.content['application/json']
  const body = request?.schema
  const file = body || !operation.requestBody ? undefined : Object.keys(operation.requestBody.content)
  const [status = '', success] = Object.entries(operation.responses).find(([code]) => code.startsWith('2')) ?? []
  const responseMedia = success?.content?.['application/json']
  const responseSchema = responseMedia?.schema
  const events = success?.content?.['text/event-stream']?.['x-events']
  const refusals = Object.entries(operation.responses).filter(([code]) => !code.startsWith('2'))
  const token = operation.security ? 'PURGE_TOKEN' : 'HOMEPORT_TOKEN'
  // No curl example for payment events, because they need a signature.
  const curl =
    operation.operationId === 'stripe'
      ? ''
      : `<h4>Example</h4><pre><code>${escapeHtml(curlExample(method, path, { body: request?.example, hasFile: file !== undefined, token }))}</code></pre>`
  return `<article id="${operation.operationId}">
<h3>${escapeHtml(operation.summary)}</h3>
<p class="route"><span class="method ${method}">${method}</span><code>${escapeHtml(path)}</code></p>
${operation.description ? `<p>${renderInline(operation.description)}</p>` : ''}
${operation.parameters ? `<h4>Parameters</h4>${renderParameters(operation.parameters)}` : ''}
${body ? `<h4>Body</h4>${renderFields(body, document)}` : file ? `<h4>Body</h4><p>A file as ${file.map((type) => `<code>${escapeHtml(type)}</code>`).join(', ')}.</p>` : ''}
<h4>Response ${status}</h4>${responseSchema ? renderFields(responseSchema, document) + renderExample(responseMedia?.example) : `<p>${renderInline(success?.description ?? '')}</p>`}
${Object.entries(events ?? {})
  .map(([name, schema]) => `<h4>Event <code>${escapeHtml(name)}</code></h4>${renderFields(schema, document)}`)
  .join('')}
<h4>Errors</h4><table><tbody>${refusals.map(([code, { description }]) => `<tr><td>${code}</td><td>${renderInline(description)}</td></tr>`).join('')}</tbody></table>
${curl}
</article>`
}

const renderExample = (value: unknown) =>
  `<details><summary>An example</summary><pre><code>${escapeHtml(JSON.stringify(value, null, 2))}</code></pre></details>`

const renderParameters = (list: OpenApiParameter[]) =>
  `<table><thead><tr><th>Name</th><th>In</th><th>Type</th><th></th></tr></thead><tbody>${list
    .map(
      ({ name, in: where, schema, required, description }) =>
        `<tr><td><code>${escapeHtml(name)}</code></td><td>${where}</td><td>${renderType(schema)}</td><td>${remarks(required ? 'Required' : '', description, renderRange(schema))}</td></tr>`,
    )
    .join('')}</tbody></table>`

function renderFields(schema: JsonSchema | undefined, document: OpenApiDocument): string {
  const target = schema?.$ref ? document.components.schemas[schemaName(schema.$ref)] : schema
  if (!target?.properties) return `<p>${target ? renderType(target) : ''}</p>`
  const rows = Object.entries(target.properties).map(
    ([name, property]) =>
      `<tr><td><code>${escapeHtml(name)}</code></td><td>${renderType(property)}</td><td>${remarks(target.required?.includes(name) ? '' : 'Optional', property.description, renderRange(property))}</td></tr>`,
  )
  return `<table><thead><tr><th>Field</th><th>Type</th><th></th></tr></thead><tbody>${rows.join('')}</tbody></table>`
}

/** A short description of a schema, as HTML. */
function renderType(schema: JsonSchema): string {
  if (schema.$ref) {
    const name = schemaName(schema.$ref)
    return `<a href="#${name}">${name}</a>`
  }
  if (schema.anyOf) return schema.anyOf.map(renderType).join(' or ')
  if (schema.enum) return schema.enum.map((value) => `<code>${escapeHtml(String(value))}</code>`).join(' ')
  if (schema.type === 'array') return `list of ${schema.items ? renderType(schema.items) : 'anything'}`
  if (schema.format === 'date-time') return 'time (ISO 8601, UTC)'
  if (schema.properties)
    return `{ ${Object.entries(schema.properties)
      .map(([name, property]) => `${escapeHtml(name)}: ${renderType(property)}`)
      .join(', ')} }`
  return escapeHtml([schema.type ?? 'anything'].flat().join(' or '))
}

/** Joins remarks to sentences that end with a full stop. */
const remarks = (...parts: (string | undefined)[]) =>
  renderInline(
    parts
      .filter((part) => part !== undefined && part !== '')
      .map((part) => `${part?.replace(/\.$/, '')}.`)
      .join(' '),
  )

function renderRange(schema: JsonSchema): string {
  const { minimum, maximum, minLength, maxLength, pattern } = schema
  if (minimum !== undefined && maximum !== undefined) return `${String(minimum)} to ${String(maximum)}`
  if (maxLength !== undefined) return `${minLength === undefined ? 'Up' : String(minLength)} to ${String(maxLength)} characters`
  if (typeof pattern === 'string' && schema.format === undefined) return `Matches \`${pattern}\``
  return ''
}

const schemaName = (reference: string) => reference.slice(reference.lastIndexOf('/') + 1)

const renderInline = (text: string) => escapeHtml(text).replace(/`([^`]+)`/g, '<code>$1</code>')

function curlExample(method: string, path: string, { body, hasFile, token }: { body: unknown; hasFile: boolean; token: string }): string {
  const lines = [
    `curl ${method === 'GET' ? '' : `-X ${method} `}"$HOMEPORT_URL${path.replace(/\{(\w+)\}/g, (_, name: string) => `$${name.toUpperCase()}`)}"`,
    `-H "Authorization: Bearer $${token}"`,
  ]
  if (body !== undefined) lines.push('-H "Content-Type: application/json"', `-d '${JSON.stringify(body)}'`)
  if (hasFile) lines.push('-F file=@app.tar.gz')
  return lines.join(' \\\n  ')
}
