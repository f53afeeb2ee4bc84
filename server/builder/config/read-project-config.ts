import type { ProjectConfig } from '../../contract/project-config.ts'
import { readFirst, openSourceFolder, type SourceFolder } from '../source-folder.ts'
import { findLines } from './config-lines.ts'
import { composeFiles, readComposeYaml } from './compose-yaml.ts'
import { readAppJson } from './app-json.ts'
import { readFlyToml } from './fly-toml.ts'
import { homeportFiles, readHomeportYaml } from './homeport-yaml.ts'
import { readNetlifyToml } from './netlify-toml.ts'
import { readProcfileConfig } from './procfile-config.ts'
import { readRailwayConfig } from './railway-config.ts'
import { readVercelJson } from './vercel-json.ts'
import { noConfig } from './service-draft.ts'

/** null: the file does not say how the app is deployed, so the next one is read. */
type ConfigReader = (file: string, text: string, source: SourceFolder) => Promise<ProjectConfig | null>

/** The files that are read, in this order: the first that exists decides. */
const readers: { files: string[]; read: ConfigReader }[] = [
  { files: homeportFiles, read: readHomeportYaml },
  { files: composeFiles, read: readComposeYaml },
  { files: ['Procfile'], read: readProcfileConfig },
  { files: ['fly.toml'], read: readFlyToml },
  { files: ['railway.json', 'railway.toml'], read: readRailwayConfig },
  { files: ['app.json'], read: readAppJson },
  { files: ['netlify.toml'], read: readNetlifyToml },
  { files: ['vercel.json'], read: readVercelJson },
]

/**
 * The services of a source, from its configuration file. Only reads files; runs no commands. Throws ConfigFailure (a DetectFailure) with every line
 * that cannot be used.
 */
export async function readProjectConfig(folder: string): Promise<ProjectConfig> {
  const source = await openSourceFolder(folder)
  const unused: string[] = []
  for (const { files, read } of readers) {
    const file = await readFirst(source, '.', files)
    if (!file) continue
    const config = await read(file.name, file.text, source)
    if (config) return { ...config, lines: findLines(file.name, file.text), explanation: [...config.explanation, ...unused] }
    if (composeFiles.includes(file.name)) unused.push(`${file.name} is not used, because it only has services that an app uses, not the app`)
  }
  return { ...noConfig, explanation: unused }
}
