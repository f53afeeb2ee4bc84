import { mkdir, readFile, readdir, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { type CommandContext, type CliCommand, exitCodes, UsageError, requirePositionals } from './command.ts'
import { colorize } from './terminal.ts'

/** Next to `server/` in a checkout, next to `out/` in a package. */
const samplesFolder = join(import.meta.dirname, '../../resources/samples')

interface Sample {
  name: string
  title: string
  about: string
  shows: string
}

export const samples: CliCommand = {
  summary: 'Lists the sample apps, or writes one to a folder.',
  usage: ['samples', 'samples NAME [FOLDER]'],
  details: 'Samples have no dependencies, so they deploy without a network.',
  options: {},
  async run(context) {
    const [name, path] = requirePositionals(context, '[NAME]', '[FOLDER]')
    const list: Sample[] = JSON.parse(await readFile(join(samplesFolder, 'samples.json'), 'utf8'))
    if (name === undefined) return show(context, list)
    if (!list.some((sample) => sample.name === name)) throw new UsageError(`Unknown sample “${name}”. homeport samples lists all samples.`)
    const folder = resolve(context.cwd, path ?? name)
    await mkdir(folder, { recursive: true })
    if ((await readdir(folder)).length > 0) throw new UsageError(`${folder} is not empty. Choose an empty or new folder.`)
    const files = await readdir(join(samplesFolder, name))
    for (const file of files) await writeFile(join(folder, file), await readFile(join(samplesFolder, name, file)))
    if (context.is_json) context.terminal.out(JSON.stringify({ name, folder, files }))
    else context.terminal.out(`Wrote ${name} to ${folder}. Deploy it with: npx homeport deploy ${path ?? name}`)
    return exitCodes.success
  },
}

function show(context: CommandContext, list: Sample[]): number {
  if (context.is_json) context.terminal.out(JSON.stringify({ samples: list }))
  else
    for (const { name, about, shows } of list)
      context.terminal.out(`${colorize(context.terminal, 'bold', name.padEnd(14))}${about}\n${' '.repeat(14)}${shows}.`)
  return exitCodes.success
}
