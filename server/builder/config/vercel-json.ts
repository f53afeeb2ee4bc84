import { normalizeCronExpression, validateCronExpression } from '../../contract/cron-expression.ts'
import type { ProjectConfig } from '../../contract/project-config.ts'
import type { SourceFolder } from '../source-folder.ts'
import {
  addService,
  finishPlatformFile,
  mapOf,
  mapsOf,
  noteOthers,
  openPlatformFile,
  type PlatformFile,
  setSetting,
  textOf,
} from './platform-file.ts'
import { parseYaml, quote, type YamlMap } from './yaml-tree.ts'

const silent = '$schema version name public github git devCommand ignoreCommand scope alias framework'.split(' ')

/** The port of the app, which its cron jobs must know. */
const port = 3000
/** Packages with their own server: a cron job is a request to it. */
const servers =
  /"(next|nuxt|@sveltejs\/kit|@sveltejs\/adapter-node|astro|@remix-run\/\w+|@react-router\/\w+|express|fastify|hono|koa|h3|@nestjs\/core)"\s*:/

/** vercel.json: commands, and cron jobs, which request a path of the app. */
export async function readVercelJson(file: string, text: string, source: SourceFolder): Promise<ProjectConfig | null> {
  const context = openPlatformFile(file, source)
  const { log } = context
  const root = parseYaml(text, log)
  const map = mapOf(root)
  if (!map) return null
  noteOthers(map, ['buildCommand', 'installCommand', 'outputDirectory', 'crons'], silent, context)
  const draft = addService('web', map.at, context)
  for (const [key, setting] of [
    ['buildCommand', 'build_command'],
    ['installCommand', 'install_command'],
  ] as const) {
    const entry = map.entries.get(key)
    const command = textOf(entry?.value)
    if (entry && command !== undefined) setSetting(setting, command, entry.at, context)
  }
  const output = map.entries.get('outputDirectory')
  if (output) log.note(output.at, 'outputDirectory has no effect here: the folder of the site is detected')
  const crons = mapsOf(map.entries.get('crons')?.value)
  if (crons.length > 0) await readCrons(crons, context)
  if (context.services.length > 1) draft.config.port = port
  return finishPlatformFile(context, draft)
}

async function readCrons(crons: readonly YamlMap[], context: PlatformFile): Promise<void> {
  const manifest = await context.source.read('package.json')
  if (manifest === null || !servers.test(manifest)) {
    context.log.note(crons[0]!.at, 'crons have no effect, because the app has no server that they could request')
    return
  }
  for (const [index, cron] of crons.entries()) {
    const path = textOf(cron.entries.get('path')?.value) ?? ''
    const schedule = textOf(cron.entries.get('schedule')?.value) ?? ''
    const isPath = /^\/[^\s\p{Cc}]*$/u.test(path) && !path.startsWith('//')
    const problem = isPath ? validateCronExpression(schedule) : `${quote(path)} is not a path`
    if (problem !== undefined) {
      context.log.note(cron.at, `the cron job ${index + 1} has no effect: ${problem}`)
      continue
    }
    const { config } = addService(`cron-${index + 1}`, cron.at, context)
    config.command = ['node', '-e', requestScript, `http://web:${port}${path}`]
    config.schedule = normalizeCronExpression(schedule)
    context.log.note(cron.at, `${config.name} requests ${path} of web, with CRON_SECRET as its token if the project has this variable`)
  }
}

/** Requests the address in its argument, as Vercel does. */
const requestScript = [
  "const { env } = process, secret = env.CRON_SECRET, headers = { 'user-agent': 'vercel-cron/1.0', ...(secret ? { authorization: 'Bearer ' + secret } : {}) }",
  'fetch(process.argv[1], { headers }).then(async (answer) => { console.log(answer.status, (await answer.text()).slice(0, 2000)); process.exitCode = answer.ok ? 0 : 1 },',
  '(error) => { console.error(error.message); process.exitCode = 1 })',
].join('\n')
