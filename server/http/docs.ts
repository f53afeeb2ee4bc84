import { openApiDocument } from './openapi.ts'
import type { OpenApiDocument, Operation, Parameter, Schema } from './openapi.ts'
import { escapeHtml, page } from './page.ts'
import type { Answer } from './respond.ts'

/** The API on one page for people, from the same description that programs read. */
export function docsPage(): Answer {
  const document = openApiDocument()
  const entries = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method: method.toUpperCase(), operation })),
  )
  entries.push({ path: '/hooks/cache/{slug}', method: 'POST', operation: document.webhooks.cachePurge.post })
  entries.push({ path: '/hooks/stripe', method: 'POST', operation: document.webhooks.stripe.post })
  const groups = document.tags.map(({ name }) => ({ name, entries: entries.filter(({ operation }) => operation.tags[0] === name) }))
  const named = Object.keys(document.components.schemas).filter((name) => !/(Request|Response)$/.test(name))

  const navigation = [
    ...groups.map(
      (group) =>
        `<strong>${escapeHtml(group.name)}</strong><ul>${group.entries.map(({ operation }) => `<li><a href="#${operation.operationId}">${escapeHtml(operation.summary)}</a></li>`).join('')}</ul>`,
    ),
    `<strong>Shapes</strong><ul>${named.map((name) => `<li><a href="#${name}">${name}</a></li>`).join('')}</ul>`,
  ].join('')
  const introduction = document.info.description
    .split('\n\n')
    .map((paragraph) => `<p>${inline(paragraph)}</p>`)
    .join('')
  const sections = groups
    .map((group) => `<h2>${escapeHtml(group.name)}</h2>${group.entries.map((entry) => article(entry, document)).join('')}`)
    .join('')
  const shapes = named
    .map((name) => `<article id="${name}"><h3>${name}</h3>${fields(document.components.schemas[name], document)}</article>`)
    .join('')

  return page(
    200,
    'The API of this instance',
    `<div class="layout"><nav aria-label="Operations">${navigation}</nav><div>${introduction}<p>For programs: <a href="/openapi.json">openapi.json</a> (OpenAPI 3.1).</p>${sections}<h2>Shapes</h2>${shapes}</div></div>`,
    { wide: true },
  )
}

function article({ path, method, operation }: { path: string; method: string; operation: Operation }, document: OpenApiDocument): string {
  const request = operation.requestBody?.content['application/json']
  const body = request?.schema
  const file = body || !operation.requestBody ? undefined : Object.keys(operation.requestBody.content)
  const [status = '', success] = Object.entries(operation.responses).find(([code]) => code.startsWith('2')) ?? []
  const shown = success?.content?.['application/json']
  const answer = shown?.schema
  const events = success?.content?.['text/event-stream']?.['x-events']
  const refusals = Object.entries(operation.responses).filter(([code]) => !code.startsWith('2'))
  const token = operation.security ? 'PURGE_TOKEN' : 'HOMEPORT_TOKEN'
  // Nobody writes an event of the payment processor by hand: its signature is needed.
  const curl =
    operation.operationId === 'stripe'
      ? ''
      : `<h4>Example</h4><pre><code>${escapeHtml(example(method, path, { body: request?.example, hasFile: file !== undefined, token }))}</code></pre>`
  return `<article id="${operation.operationId}">
<h3>${escapeHtml(operation.summary)}</h3>
<p class="route"><span class="method ${method}">${method}</span><code>${escapeHtml(path)}</code></p>
${operation.description ? `<p>${inline(operation.description)}</p>` : ''}
${operation.parameters ? `<h4>Parameters</h4>${parameters(operation.parameters)}` : ''}
${body ? `<h4>Body</h4>${fields(body, document)}` : file ? `<h4>Body</h4><p>A file, as ${file.map((type) => `<code>${escapeHtml(type)}</code>`).join(', ')}.</p>` : ''}
<h4>Answer ${status}</h4>${answer ? fields(answer, document) + sample(shown?.example) : `<p>${inline(success?.description ?? '')}</p>`}
${Object.entries(events ?? {})
  .map(([name, schema]) => `<h4>Event <code>${escapeHtml(name)}</code></h4>${fields(schema, document)}`)
  .join('')}
<h4>Refusals</h4><table><tbody>${refusals.map(([code, { description }]) => `<tr><td>${code}</td><td>${inline(description)}</td></tr>`).join('')}</tbody></table>
${curl}
</article>`
}

/** Folded away: one looks at it when one is about to read such an answer. */
const sample = (value: unknown) =>
  `<details><summary>An example</summary><pre><code>${escapeHtml(JSON.stringify(value, null, 2))}</code></pre></details>`

const parameters = (list: Parameter[]) =>
  `<table><thead><tr><th>Name</th><th>In</th><th>Type</th><th></th></tr></thead><tbody>${list
    .map(
      ({ name, in: where, schema, required, description }) =>
        `<tr><td><code>${escapeHtml(name)}</code></td><td>${where}</td><td>${type(schema)}</td><td>${remarks(required ? 'Required' : '', description, range(schema))}</td></tr>`,
    )
    .join('')}</tbody></table>`

function fields(schema: Schema | undefined, document: OpenApiDocument): string {
  const target = schema?.$ref ? document.components.schemas[schemaName(schema.$ref)] : schema
  if (!target?.properties) return `<p>${target ? type(target) : ''}</p>`
  const rows = Object.entries(target.properties).map(
    ([name, property]) =>
      `<tr><td><code>${escapeHtml(name)}</code></td><td>${type(property)}</td><td>${remarks(target.required?.includes(name) ? '' : 'Optional', property.description, range(property))}</td></tr>`,
  )
  return `<table><thead><tr><th>Field</th><th>Type</th><th></th></tr></thead><tbody>${rows.join('')}</tbody></table>`
}

/** A schema in a few words, as HTML. */
function type(schema: Schema): string {
  if (schema.$ref) {
    const name = schemaName(schema.$ref)
    return `<a href="#${name}">${name}</a>`
  }
  if (schema.anyOf) return schema.anyOf.map(type).join(' or ')
  if (schema.enum) return schema.enum.map((value) => `<code>${escapeHtml(String(value))}</code>`).join(' ')
  if (schema.type === 'array') return `list of ${schema.items ? type(schema.items) : 'anything'}`
  if (schema.format === 'date-time') return 'time (ISO 8601, UTC)'
  if (schema.properties)
    return `{ ${Object.entries(schema.properties)
      .map(([name, property]) => `${escapeHtml(name)}: ${type(property)}`)
      .join(', ')} }`
  return escapeHtml([schema.type ?? 'anything'].flat().join(' or '))
}

/** Sentences, each with its full stop. */
const remarks = (...parts: (string | undefined)[]) =>
  inline(
    parts
      .filter((part) => part !== undefined && part !== '')
      .map((part) => `${part?.replace(/\.$/, '')}.`)
      .join(' '),
  )

function range(schema: Schema): string {
  const { minimum, maximum, minLength, maxLength, pattern } = schema
  if (minimum !== undefined && maximum !== undefined) return `${String(minimum)} to ${String(maximum)}`
  if (maxLength !== undefined) return `${minLength === undefined ? 'Up' : String(minLength)} to ${String(maxLength)} characters`
  if (typeof pattern === 'string' && schema.format === undefined) return `Matches \`${pattern}\``
  return ''
}

const schemaName = (reference: string) => reference.slice(reference.lastIndexOf('/') + 1)

const inline = (text: string) => escapeHtml(text).replace(/`([^`]+)`/g, '<code>$1</code>')

function example(method: string, path: string, { body, hasFile, token }: { body: unknown; hasFile: boolean; token: string }): string {
  const lines = [
    `curl ${method === 'GET' ? '' : `-X ${method} `}"$HOMEPORT_URL${path.replace(/\{(\w+)\}/g, (_, name: string) => `$${name.toUpperCase()}`)}"`,
    `-H "Authorization: Bearer $${token}"`,
  ]
  if (body !== undefined) lines.push('-H "Content-Type: application/json"', `-d '${JSON.stringify(body)}'`)
  if (hasFile) lines.push('-F file=@app.tar.gz')
  return lines.join(' \\\n  ')
}
