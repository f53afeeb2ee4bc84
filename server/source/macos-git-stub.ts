import { execFile } from 'node:child_process'
import { access, constants } from 'node:fs/promises'
import { delimiter, join } from 'node:path'

/**
 * Whether `git` would only open a dialog: on macOS, `/usr/bin/git` is a stub that offers to install Apple's developer tools until they are
 * installed. `xcode-select -p` detects them without a dialog.
 */
export async function isMacosGitStub(
  path: string,
  platform: NodeJS.Platform = process.platform,
  developerFolder: () => Promise<string | undefined> = readDeveloperFolder,
): Promise<boolean> {
  if (platform !== 'darwin') return false
  for (const folder of path.split(delimiter)) {
    if (!(await isExecutable(join(folder, 'git')))) continue
    if (join(folder, '.') !== '/usr/bin') return false
    const tools = await developerFolder()
    return tools === undefined || !(await isExecutable(join(tools, 'usr', 'bin', 'git')))
  }
  return false
}

const isExecutable = (file: string): Promise<boolean> =>
  access(file, constants.X_OK).then(
    () => true,
    () => false,
  )

const readDeveloperFolder = (): Promise<string | undefined> =>
  new Promise((resolve) => {
    execFile('/usr/bin/xcode-select', ['-p'], { timeout: 5_000 }, (error, out) => resolve(error ? undefined : out.trim()))
  })
