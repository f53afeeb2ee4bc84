import type { ProjectConfig } from '../../contract/project-config.ts'
import { readFirst, openSourceFolder, type SourceFolder } from '../source-folder.ts'
import { homeportFiles, readHomeportYaml } from './homeport-yaml.ts'
import { noConfig } from './service-draft.ts'

type ConfigReader = (file: string, text: string, source: SourceFolder) => Promise<ProjectConfig>

/** The files that are read, in this order: the first that exists decides. */
const readers: { files: string[]; read: ConfigReader }[] = [{ files: homeportFiles, read: readHomeportYaml }]

/**
 * What a source says about its services. Only reads files; runs no commands. Throws ConfigFailure (a DetectFailure) with every line that cannot be
 * used.
 */
export async function readProjectConfig(folder: string): Promise<ProjectConfig> {
  const source = await openSourceFolder(folder)
  for (const { files, read } of readers) {
    const file = await readFirst(source, '.', files)
    if (file) return read(file.name, file.text, source)
  }
  return { ...noConfig }
}
