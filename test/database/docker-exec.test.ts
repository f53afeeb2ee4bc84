import { PassThrough } from 'node:stream'
import type Docker from 'dockerode'
import { expect, test } from 'vitest'
import { execAsPostgres } from '../../server/database/docker-exec.ts'

/** A frame of the engine on standard output. */
const frame = (text: string) => Buffer.concat([Buffer.from([1, 0, 0, 0, 0, 0, 0, text.length]), Buffer.from(text)])

test('an engine that learns of a program’s exit after its last output is asked again', async () => {
  const looks = [
    { Running: true, ExitCode: null },
    { Running: true, ExitCode: null },
    { Running: false, ExitCode: 3 },
  ]
  const exec = {
    async start() {
      // The actual state differs from the reported one.
      const said = Object.assign(new PassThrough(), { end: () => {} })
      said.write(frame('a word'))
      said.push(null)
      return said
    },
    inspect: async () => looks.shift(),
  }
  const container = { exec: async () => exec } as unknown as Docker.Container
  expect(await execAsPostgres(container, ['psql'])).toEqual({ code: 3, out: 'a word', err: '' })
  expect(looks).toEqual([])
})
