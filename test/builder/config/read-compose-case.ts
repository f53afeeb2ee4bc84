import { readFile } from 'node:fs/promises'
import { join } from 'node:path'

/** A source with one of the files in `compose/`, and the other files that it needs. */
export async function createComposeCase(
  createSource: (files: Record<string, string>) => Promise<string>,
  name: string,
  files: readonly string[] = [],
): Promise<string> {
  const text = await readFile(join(import.meta.dirname, 'compose', `${name}.yaml`), 'utf8')
  return createSource({
    ...Object.fromEntries(files.map((file) => [file, file === '.env' ? 'N8N_VERSION=2.1\n' : 'FROM scratch\n'])),
    'compose.yaml': text,
  })
}
