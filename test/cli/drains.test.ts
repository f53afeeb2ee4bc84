import { afterAll, beforeAll, expect, test } from 'vitest'
import { type CommandLine, commandLine, runCommand } from '../support/command.ts'
import { createTempFolder } from '../support/instance-process.ts'
import { type SharedPlatform, sharedPlatform } from '../support/shared-platform.ts'

const folder = createTempFolder('drain-commands')
let platform: SharedPlatform
let run: CommandLine
beforeAll(async () => {
  platform = await sharedPlatform()
  run = commandLine(platform.handle.instance, folder.path)
  await platform.createProject({ slug: 'with-drains' })
})
afterAll(async () => {
  await platform.remove()
  folder.remove()
})

test('log drains are added, tested, turned off and removed; the value of a header is no argument', async () => {
  expect((await run('drains', 'with-drains')).out).toMatch(/^No log drains\. Add one with homeport drains with-drains add\./)
  const added = await runCommand(
    platform.handle.instance,
    folder.path,
    ['drains', 'with-drains', 'add', 'http', '--header', 'Authorization', '--sources', 'app,request', '--environments', 'production'],
    { answers: ['http://127.0.0.1:1/ingest/the-credential', 'Bearer the-header'] },
  )
  expect(added).toMatchObject({ code: 0, prompts: [{ is_secret: true }, { question: 'Value of the header Authorization: ', is_secret: true }] })
  const [, id = ''] = /^Added 127\.0\.0\.1:1 \((drn_\w+)\)\. .*\nSigning secret, shown only now: whsec_/.exec(added.out) ?? []
  const listed = await run('drains', 'with-drains')
  expect(listed.out).toMatch(
    /^ID +TYPE +ADDRESS +LOGS +STATUS +DELIVERED +DROPPED\s*\ndrn_\w+ +HTTP +http:\/\/127\.0\.0\.1:1\/… +App logs, Request log \(Production\) +Waiting +0 +0/,
  )
  expect(listed.out + added.out).not.toMatch(/the-credential|the-header/)
  expect(await run('drains', 'with-drains', 'test', id)).toMatchObject({ code: 1, err: 'The connection was refused (ECONNREFUSED).\n' })
  expect((await run('drains', 'with-drains', 'off', id)).out).toBe('Turned off.\n')
  expect((await run('drains', 'with-drains')).out).toContain(' Off ')
  expect((await run('drains', 'with-drains', 'on', id)).code).toBe(0)

  expect((await run('drains', 'with-drains', 'add', 'syslog', 'udp://127.0.0.1:5140', '--name', 'Local')).code).toBe(0)
  expect((await run('drains', 'with-drains', 'add', 'file', 'output')).out).toMatch(/^Added output /)
  expect(await run.json('drains', 'with-drains')).toMatchObject({ log_drains: [{ id }, { name: 'Local' }, { kind: 'file' }] })
  for (const wrong of [
    ['add', 'pigeon', 'x'],
    ['add', 'syslog'],
    ['add', 'file', 'a', '--sources', 'kernel'],
    ['add', 'file', 'a', '--environments', 'moon'],
    ['explode', id],
  ])
    expect((await run('drains', 'with-drains', ...wrong)).code).toBe(2)
  expect((await run('drains', 'with-drains', 'remove', id)).out).toBe('Removed.\n')
  expect(await run('drains', 'with-drains', 'remove', id)).toMatchObject({ code: 1, err: expect.stringContaining('log_drain_not_found') })
})
