import type { ProjectConfig } from '../../contract/project-config.ts'
import { maxServices } from '../../contract/homeport-yaml.ts'
import { parseProcfile } from '../procfile.ts'
import type { SourceFolder } from '../source-folder.ts'
import { applyAppJson, isHerokuFile, readCronJobs } from './app-json.ts'
import { parseCommand } from './command.ts'
import { checkSize, parseYaml, quote } from './yaml-tree.ts'
import { addService, finishPlatformFile, openPlatformFile, toServiceName } from './platform-file.ts'

/** A Procfile: `web` answers requests, `release` runs before traffic, all others are workers. An app.json adds variables and replica counts. */
export async function readProcfileConfig(file: string, text: string, source: SourceFolder): Promise<ProjectConfig> {
  const context = openPlatformFile(file, source)
  const { log } = context
  checkSize(text, log)
  const { processes, invalid_lines } = parseProcfile(text)
  for (const line of invalid_lines) log.note({ line, column: 1 }, 'it is not NAME: COMMAND, so it has no effect')
  let release: string[] | null = null
  for (const { name, command, line } of processes) {
    const at = { line, column: 1 }
    const service = toServiceName(name)
    if (name === 'release') release = parseCommand(command)
    else if (service === null || context.services.some(({ config }) => config.name === service))
      log.reject(at, `${quote(name)} is not a valid name of a process.`, 'Give each process a unique name of letters and digits.')
    // The build already contains the command of web.
    else addService(service, at, context).config.command = service === 'web' ? null : parseCommand(command)
  }
  if (context.services.length > maxServices) log.reject(null, `The file has more than ${maxServices} processes.`, 'Split the project.')
  let main = context.services.find(({ config }) => config.name === 'web') ?? null
  if (!main && (context.services.length === 0 || (await hasStartScript(source)))) {
    main = addService('web', { line: 1, column: 1 }, context)
    log.note(null, 'it has no web process, so the start command of the app is detected')
  }
  const appJson = await source.read('app.json')
  const root = appJson === null ? null : parseYaml(appJson, openPlatformFile('app.json', source).log)
  if (root && isHerokuFile(root)) {
    log.note(null, 'app.json is read as well')
    applyAppJson(root, context)
    readCronJobs(root, context)
  }
  const service = (main ?? context.services[0])?.config.name
  return finishPlatformFile(context, main, release && service !== undefined ? { service, command: release } : null)
}

async function hasStartScript(source: SourceFolder): Promise<boolean> {
  const text = await source.read('package.json')
  if (text === null) return false
  try {
    const manifest = JSON.parse(text) as { scripts?: { start?: unknown } } | null
    return typeof manifest?.scripts?.start === 'string'
  } catch {
    return false
  }
}
