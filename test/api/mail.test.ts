import { randomBytes } from 'node:crypto'
import { connect } from 'node:net'
import { createTransport } from 'nodemailer'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { MailCatcherStatus, MailMessage, MailMessageDetails } from '../../server/contract/mail.ts'
import { fullTest } from '../support/full-test.ts'
import { runCommand } from '../support/command.ts'
import { createApiContext, expectError, type ApiContext } from './api-context.ts'

let context: ApiContext
let account: { url: string; host: string; port: number; user: string; password: string }
const path = '/instance/projects/post/mail'

const server = {
  'package.json': JSON.stringify({ name: 'post', private: true, scripts: { start: 'node server.js' } }),
  'server.js': `require('node:http').createServer((_, response) => response.end(process.env.SMTP_URL ?? 'none')).listen(process.env.PORT, process.env.HOST)`,
}

beforeAll(async () => {
  context = await createApiContext()
  context.repository.commit(server)
  await context.platform.createProject({ slug: 'post', repo_url: context.repository.url })
})
afterAll(() => context.close())

const read = async () => (await context.request('owner', 'GET', path)).body as unknown as { catcher: MailCatcherStatus; messages: MailMessage[] }
const readMessage = async (id: string) => (await context.request('owner', 'GET', `${path}/messages/${id}`)).body.message as MailMessageDetails
const send = async (message: object, change: object = {}) => {
  const { host, port, user, password: pass } = { ...account, ...change }
  const transport = createTransport({ host, port, auth: { user, pass } })
  await transport.sendMail({ from: 'Shop <shop@example.com>', to: 'ada@example.com', subject: 'Hello', ...message })
  transport.close()
}
const homeport = (...args: string[]) =>
  runCommand({ api_url: context.platform.handle.api_url, token: context.platform.owner.token }, '/', ['mail', 'post', ...args])

test('the mail catcher is off by default, and turning it on redeploys the project once', async () => {
  expect(await read()).toEqual({
    catcher: { is_enabled: false, host: null, port: null, user: expect.stringMatching(/^prj_/), unavailable: null },
    messages: [],
  })
  expectError(await context.request('stranger', 'GET', path), 404, 'project_not_found')
  expectError(await context.request('stranger', 'PATCH', path, { is_enabled: true }), 404, 'project_not_found')
  await context.platform.waitForEnd('post', (await context.platform.deploy('post')).id)
  expect((await context.platform.fetchEdge('post.localhost')).body).toBe('none')

  const { status, body } = await context.request('member', 'PATCH', path, { is_enabled: true })
  expect([status, body]).toEqual([
    200,
    {
      catcher: { is_enabled: true, host: '127.0.0.1', port: expect.any(Number), user: expect.any(String), unavailable: null },
      deployment_id: expect.any(String),
    },
  ])
  expect(await context.platform.waitForEnd('post', String(body.deployment_id))).toMatchObject({ status: 'ready' })
  expect((await context.request('owner', 'PATCH', path, { is_enabled: true })).body.deployment_id).toBeNull()
  const url = (await context.platform.fetchEdge('post.localhost')).body
  const { hostname, port, username, password } = new URL(url)
  account = { url, host: hostname, port: Number(port), user: username, password }
  expect([username, password.length]).toEqual([(body.catcher as MailCatcherStatus).user, 43])
})

test('accepts mail only with the user and password of a project', async () => {
  await expect(send({}, { password: 'wrong' })).rejects.toMatchObject({ responseCode: 535 })
  await expect(send({}, { user: 'prj_other' })).rejects.toMatchObject({ responseCode: 535 })
  const anonymous = createTransport({ host: account.host, port: account.port })
  await expect(anonymous.sendMail({ from: 'a@example.com', to: 'b@example.com', text: 'x' })).rejects.toMatchObject({ responseCode: 530 })
  expect((await read()).messages).toEqual([])
})

test('a message is stored with its recipients, texts, headers and attachments', async () => {
  const image = Buffer.from('iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==', 'base64')
  const file = randomBytes(5_000)
  await send({
    to: ['Ada <ada@example.com>', 'bob@example.com'],
    bcc: 'hidden@example.com',
    subject: 'Your order — Ünïcode ✓',
    text: 'Thank you',
    html: '<p style="color:red">Thank <b>you</b> <img src="cid:logo"></p>',
    headers: { 'X-Order': '42' },
    attachments: [
      { filename: 'logo.png', content: image, cid: 'logo' },
      { filename: '../../rechnung „1“.pdf', content: file, contentType: 'application/pdf' },
    ],
  })
  const [summary] = (await read()).messages
  expect(summary).toEqual({
    id: expect.stringMatching(/^msg_/),
    from: '"Shop" <shop@example.com>',
    to: ['ada@example.com', 'bob@example.com', 'hidden@example.com'],
    subject: 'Your order — Ünïcode ✓',
    size_bytes: expect.any(Number),
    attachments: 1,
    received_at: expect.any(String),
  })
  const id = summary?.id ?? ''
  const message = await readMessage(id)
  expect(message).toMatchObject({ text: expect.stringContaining('Thank you'), is_shortened: false })
  expect(message.html).toContain('<p style="color:red">Thank <b>you</b> <img src="data:image/png;base64,')
  expect(message.headers).toContainEqual({ name: 'X-Order', value: '42' })
  expect(message.files).toMatchObject([{ index: 0, content_type: 'application/pdf', size_bytes: 5_000 }])

  const download = (name: string) =>
    fetch(`${context.platform.handle.api_url}${path}/messages/${id}/${name}`, {
      headers: { authorization: `Bearer ${context.platform.owner.token}` },
    })
  const attachment = await download('attachments/0')
  expect(attachment.headers.get('content-type')).toBe('application/octet-stream')
  expect(Buffer.from(await attachment.arrayBuffer()).equals(file)).toBe(true)
  expect(await (await download('source.eml')).text()).toContain('X-Order: 42')
  for (const name of ['attachments/1', 'attachments/9999', 'attachments/-1', 'attachments/length', 'attachments/'])
    expect((await download(name)).status).toBe(404)
  expectError(await context.request('stranger', 'GET', `${path}/messages/${id}`), 404, 'project_not_found')
  await context.platform.createProject({ slug: 'post-two', repo_url: context.repository.url })
  expectError(await context.request('owner', 'GET', `/instance/projects/post-two/mail/messages/${id}`), 404, 'message_not_found')
})

test('active content of a message is removed before it is shown', async () => {
  await send({
    subject: 'Hostile',
    html: `<script>alert(1)</script><img src=x onerror=alert(1)><img src="https://evil.example/pixel.gif"><img src="//evil.example/p">
      <iframe src="https://evil.example"></iframe><form action="https://evil.example"><input name=a></form><svg onload=alert(1)></svg>
      <a href="javascript:alert(1)">a</a><a href="/app/settings">b</a><a href="https://shop.example/confirm?token=1">confirm</a>
      <meta http-equiv="refresh" content="0;url=https://evil.example"><base href="https://evil.example"><link rel=stylesheet href="https://evil.example/x.css">
      <object data="x"></object><body background="https://evil.example/b.png"><p onclick="alert(1)">text</p>`,
  })
  const [{ id } = { id: '' }] = (await read()).messages
  const html = (await readMessage(id)).html ?? ''
  const body = html.slice(html.indexOf('<body>'))
  expect(body).not.toMatch(/script|onerror|onload|onclick|iframe|<form|<input|<svg|<meta|<base|<link|<object|evil\.example|\/app\/settings/i)
  expect(body).toContain('<a href="https://shop.example/confirm?token=1" target="_blank" rel="noopener noreferrer">confirm</a>')
  expect(html).toContain("default-src 'none'")
})

test('malformed, headerless and deeply nested messages are stored and shown', async () => {
  const deep = Array.from({ length: 300 }, (_, i) => `Content-Type: multipart/mixed; boundary=b${i}\r\n\r\n--b${i}\r\n`).join('')
  for (const raw of [
    '\r\n',
    'no header at all',
    `Subject: ${'x'.repeat(5_000)}\r\n\r\n`,
    'Content-Type: text/html; charset=nonsense\r\n\r\n\xff',
    deep,
  ]) {
    await send({ raw, envelope: { from: 'a@example.com', to: 'b@example.com' } })
    const [summary] = (await read()).messages
    expect(summary?.subject.length).toBeLessThanOrEqual(500)
    expect((await readMessage(summary?.id ?? '')).id).toBe(summary?.id)
  }
})

fullTest('a message over 25 MB is refused by its declared size and by its actual size', async () => {
  const count = (await read()).messages.length
  await expect(send({ text: 'x'.repeat(26 * 2 ** 20) })).rejects.toMatchObject({ responseCode: 552 })
  const replies = await new Promise<string>((resolve, reject) => {
    let text = ''
    const login = Buffer.from(`\0${account.user}\0${account.password}`).toString('base64')
    const lines = [
      'EHLO a',
      `AUTH PLAIN ${login}`,
      'MAIL FROM:<a@example.com>',
      'RCPT TO:<b@example.com>',
      'DATA',
      `${`${'y'.repeat(998)}\r\n`.repeat(26_500)}\r\n.`,
    ]
    const socket = connect(account.port, account.host)
    socket.setEncoding('utf8').on('error', reject)
    socket.on('data', (data: string) => {
      text += data
      const line = /^\d{3} /m.test(data) ? lines.shift() : undefined
      if (line !== undefined) socket.write(`${line}\r\n`)
      else if (/^552 /m.test(text)) socket.end(() => resolve(text))
    })
  })
  expect(replies).toMatch(/^552 The message is larger than 25 MB/m)
  expect((await read()).messages.length).toBe(count)
})

fullTest('keeps the last 500 messages', async () => {
  const transport = createTransport({
    host: account.host,
    port: account.port,
    auth: { user: account.user, pass: account.password },
    pool: true,
    maxMessages: Infinity,
  })
  for (let i = 0; i < 502; i++) await transport.sendMail({ from: 'a@example.com', to: 'b@example.com', subject: `Number ${i}`, text: 'x' })
  transport.close()
  const { messages } = await read()
  expect([messages.length, messages[0]?.subject, messages[499]?.subject]).toEqual([500, 'Number 501', 'Number 2'])
})

test('the command line lists, shows and deletes messages', async () => {
  await send({ subject: 'From the shop', text: 'First line\nSecond line', attachments: [{ filename: 'a.txt', content: 'abc' }] })
  const list = await homeport()
  expect(list).toMatchObject({ code: 0, out: expect.stringContaining(`The mail catcher is on: 127.0.0.1:${account.port}`) })
  expect(list.out).not.toContain(account.password)
  const id = /^(msg_\w+) .*From the shop/m.exec(list.out)?.[1] ?? ''
  const shown = await homeport('show', id)
  expect(shown.out).toContain('Subject:  From the shop')
  expect(shown.out).toContain('File 1:   a.txt (text/plain, 3 bytes)')
  expect(shown.out).toContain('First line\nSecond line')
  expect(await homeport('delete', id)).toMatchObject({ code: 0 })
  expect((await homeport('show', id)).err).toMatch(/^message_not_found/)
  expect((await homeport('send', id)).code).toBe(2)
  expect(await homeport('clear')).toMatchObject({ code: 0 })
  expect((await homeport('list', '--json')).out).toContain('"messages":[]')
})

test('accepts no mail while it is off, and keeps its password', async () => {
  const { body } = await context.request('owner', 'PATCH', path, { is_enabled: false })
  await context.platform.waitForEnd('post', String(body.deployment_id))
  await expect(send({})).rejects.toMatchObject({ responseCode: 535 })
  expect((await context.platform.fetchEdge('post.localhost')).body).toBe('none')
  const on = JSON.parse((await homeport('on', '--json')).out) as { deployment_id: string }
  await context.platform.waitForEnd('post', on.deployment_id)
  expect((await context.platform.fetchEdge('post.localhost')).body).toBe(account.url)
})
