import { afterAll, beforeAll, expect, test } from 'vitest'
import { type CommandLine, commandLine, runCommand } from '../support/command.ts'
import { createTempFolder } from '../support/instance-process.ts'
import { type SharedPlatform, sharedPlatform } from '../support/shared-platform.ts'

const folder = createTempFolder('notification-commands')
let platform: SharedPlatform
let run: CommandLine
beforeAll(async () => {
  platform = await sharedPlatform()
  run = commandLine(platform.handle.instance, folder.path)
})
afterAll(async () => {
  await platform.remove()
  folder.remove()
})

test('notification targets are added, tested and removed; a Slack URL is no argument', async () => {
  await platform.createProject({ slug: 'with-targets' })
  const project = ['--project', 'with-targets']
  const added = await run('notifications', 'add', 'webhook', 'http://127.0.0.1:1/hook', ...project, '--events', 'app_crashed', '--error-rate', '5:10')
  expect(added).toMatchObject({
    code: 0,
    out: expect.stringMatching(/^Added 127\.0\.0\.1:1 \((ntt_\w+)\)\.\nSigning secret, shown only now: whsec_\S+\n$/),
  })
  const id = /ntt_\w+/.exec(added.out)?.[0] ?? ''
  expect((await run('notifications', 'list', ...project)).out).toMatch(
    /^ID +TYPE.*\nntt_\w+ +Webhook +http:\/\/127.0.0.1:1\/hook +App crashed, Error rate 5 % for 10 min/,
  )
  const slack = await runCommand(platform.handle.instance, folder.path, ['notifications', 'add', 'slack', ...project], {
    answers: ['https://hooks.slack.com/services/T/B/secret'],
  })
  expect(slack).toMatchObject({ code: 0, prompts: [{ is_secret: true }] })
  expect(slack.out).not.toContain('secret')
  expect((await run('notifications', 'add', 'slack', 'https://hooks.slack.com/x', ...project)).code).toBe(2)
  expect((await run('notifications', 'add', 'email', 'a@example.com', '--events', 'nonsense', ...project)).code).toBe(2)
  const email = await run('notifications', 'add', 'email', 'a@example.com', ...project)
  expect(email).toMatchObject({
    code: 0,
    err: expect.stringContaining('No email is sent, because this instance has no mail server. Set HOMEPORT_SMTP_URL'),
  })
  expect((await run('notifications', 'test', id, ...project)).out).toMatch(/^Test notification queued/)
  expect((await run('notifications', 'deliveries', ...project)).out).toMatch(/^ID +STATUS.*\nntf_\w+ +\w+ +Test notification from Homeport/)
  expect((await run('notifications', 'remove', id, ...project)).code).toBe(0)
  expect(await run('notifications', 'remove', id, ...project)).toMatchObject({
    code: 1,
    err: expect.stringContaining('notification_target_not_found'),
  })
  expect(await run.json('notifications', 'list')).toMatchObject({ targets: [] })
})

test('deploy hooks are created, listed without their token, and deleted', async () => {
  await platform.createProject({ slug: 'without-repository' })
  expect(await run('hooks', 'without-repository', 'create', 'CMS')).toMatchObject({ code: 1, err: expect.stringContaining('project_not_connected') })
  await platform.createProject({ slug: 'with-hooks', repo_url: 'https://git.invalid/a.git' })
  const { out } = await run('hooks', 'with-hooks', 'create', 'CMS', '--branch', 'staging')
  const token = /\/hooks\/deploy\/(hpd_\w+)\n$/.exec(out)?.[1] ?? ''
  const list = await run('hooks', 'with-hooks')
  expect(list.out).toMatch(/^ID +NAME +BRANCH +TOKEN +LAST CALL\ndhk_\w+ +CMS +staging +hpd_…\w{4} +never/)
  expect(list.out).not.toContain(token)
  expect((await run('hooks', 'with-hooks', 'delete', /dhk_\w+/.exec(list.out)?.[0] ?? '')).code).toBe(0)
  expect((await run('hooks', 'with-hooks')).out).toMatch(/^No deploy hooks/)
})
