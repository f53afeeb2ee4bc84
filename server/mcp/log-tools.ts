import { stripVTControlCharacters } from 'node:util'
import { findErrorLine } from '../client/error-line.ts'
import type { BuildLogLine, DeploymentDetail } from '../contract/deployments.ts'
import { cutLine, logLimits, readLines, readTail } from './log-tail.ts'
import type { ToolClient } from './tool-client.ts'
import { objectSchema, type Tool, type ToolArguments } from './tool.ts'

const slug = { type: 'string', description: 'The slug of the project.' }
const lines = {
  type: 'integer',
  minimum: 1,
  maximum: logLimits.lines.max,
  default: logLimits.lines.default,
  description: 'How many of the last lines.',
}

export const buildLogTool: Tool = {
  name: 'get_build_log',
  operation: 'downloadBuildLog',
  description: 'The last lines of the build log of a deployment. Secrets are masked.',
  input: objectSchema({ slug, id: { type: 'string', description: 'The ID of the deployment.' }, lines }, ['slug', 'id']),
  async run(client, args, signal) {
    const file = await client.download('downloadBuildLog', { params: { slug: text(args.slug), id: text(args.id) }, signal }, signal)
    return readTail(readLines(file), countOf(args))
  },
}

export const runtimeLogTool: Tool = {
  name: 'get_runtime_log',
  operation: 'downloadRuntimeLog',
  description: 'The last lines that the running app or one of its services printed. Secrets are masked. Reading does not wake the app.',
  input: objectSchema(
    {
      slug,
      lines,
      branch: { type: 'string', description: 'The preview of this branch instead of production.' },
      service: { type: 'string', description: 'A service of the project instead of its main one.' },
    },
    ['slug'],
  ),
  async run(client, { slug, branch, service, ...args }, signal) {
    const query = { ...(branch === undefined ? {} : { branch: text(branch) }), ...(service === undefined ? {} : { service: text(service) }) }
    const file = await client.download('downloadRuntimeLog', { params: { slug: text(slug) }, query, signal }, signal)
    return readTail(readLines(file), countOf(args))
  },
}

export const failureTool: Tool = {
  name: 'get_failure',
  operation: 'getDeployment',
  description: 'Why a deployment failed: the step, what happened, how to fix it, and the line of the log that shows it with the lines around it.',
  input: objectSchema({ slug, id: { type: 'string', description: 'The ID of the deployment; default: the newest that failed.' } }, ['slug']),
  async run(client, args, signal) {
    const params = { slug: text(args.slug), id: args.id === undefined ? await findFailedDeployment(client, text(args.slug)) : text(args.id) }
    if (params.id === undefined) return { failure: null, note: 'No deployment of this project has failed.' }
    const input = { params: { slug: params.slug, id: params.id } }
    const { deployment } = await client.call('getDeployment', { ...input, query: { build_log: 'false' } })
    const { id, status, error, steps } = deployment
    if (!error) return { deployment_id: id, status, failure: null }
    const log = await readBuildLog(await client.download('downloadBuildLog', { ...input, query: { format: 'ndjson' }, signal }, signal))
    return {
      deployment_id: id,
      status,
      failed_step: steps.find((step) => step.status === 'failed')?.name ?? null,
      failure: error,
      ...locate(log, deployment),
    }
  },
}

/** The newest deployments are searched. */
async function findFailedDeployment(client: ToolClient, slug: string): Promise<string | undefined> {
  const { deployments } = await client.call('listDeployments', { params: { slug }, query: { status: 'failed', limit: '1' } })
  return deployments[0]?.id
}

/** As many of the last lines as the search for the error looks at. */
async function readBuildLog(file: AsyncIterable<Uint8Array>): Promise<BuildLogLine[]> {
  const records: BuildLogLine[] = []
  for await (const line of readLines(file)) {
    const record = JSON.parse(line) as Partial<BuildLogLine>
    if (record.line !== undefined) records.push(record as BuildLogLine)
    if (records.length > 4 * logLimits.lines.max) records.shift()
  }
  return records
}

function locate(log: readonly BuildLogLine[], deployment: Pick<DeploymentDetail, 'steps' | 'error'>) {
  const output = log.map(({ seq, line, stream, step }) => ({ seq, text: line, source: stream, group: step }))
  const found = findErrorLine(output, deployment, stripVTControlCharacters)
  return {
    line: found ? cutLine(found.line.text) : null,
    line_number: found?.line.seq ?? null,
    context: found?.context.map((one) => cutLine(one.text)) ?? [],
  }
}

const text = (value: unknown): string => String(value)

function countOf({ lines }: ToolArguments): number {
  const { default: standard, max } = logLimits.lines
  return typeof lines === 'number' && Number.isInteger(lines) && lines > 0 ? Math.min(lines, max) : standard
}
