import { mkdir, readFile, readdir, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { type Call, type Command, exitCodes, UsageError, words } from './command.ts'
import { paint } from './terminal.ts'

/** Beside `server/` in a checkout, beside `out/` in a package. */
const shelf = join(import.meta.dirname, '../../resources/samples')

interface Sample {
  name: string
  title: string
  about: string
  shows: string
}

export const samples: Command = {
  summary: 'Lists the sample apps, or writes one into a folder, to deploy it and to change it.',
  forms: ['samples', 'samples NAME [FOLDER]'],
  more: 'They need no packages: each deploys without a network.',
  options: {},
  async run(call) {
    const [name, path] = words(call, '[NAME]', '[FOLDER]')
    const list: Sample[] = JSON.parse(await readFile(join(shelf, 'samples.json'), 'utf8'))
    if (name === undefined) return show(call, list)
    if (!list.some((sample) => sample.name === name)) throw new UsageError(`There is no sample “${name}”. homeport samples lists them.`)
    const folder = resolve(call.cwd, path ?? name)
    await mkdir(folder, { recursive: true })
    if ((await readdir(folder)).length > 0) throw new UsageError(`${folder} is not empty. Name a folder that is, or that is not there yet.`)
    const files = await readdir(join(shelf, name))
    for (const file of files) await writeFile(join(folder, file), await readFile(join(shelf, name, file)))
    if (call.json) call.terminal.out(JSON.stringify({ name, folder, files }))
    else call.terminal.out(`${folder} holds ${name}. Deploy it: npx homeport deploy ${path ?? name}`)
    return exitCodes.done
  },
}

function show(call: Call, list: Sample[]): number {
  if (call.json) call.terminal.out(JSON.stringify({ samples: list }))
  else
    for (const { name, about, shows } of list)
      call.terminal.out(`${paint(call.terminal, 'bold', name.padEnd(14))}${about}\n${' '.repeat(14)}${shows}.`)
  return exitCodes.done
}
