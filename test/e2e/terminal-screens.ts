import type { Page, WebSocketRoute } from '@playwright/test'
import { type CommandServerMessage, commandSocketPath, encodeData } from '../../server/contract/command-frames.ts'
import { withFakeRemote } from './fake-remote.ts'
import type { Screen } from './screen.ts'

const path = 'projects/harbour-shop/terminal'
const prompt = '\x1b[1;32mharbour-shop\x1b[0m:\x1b[1;34m/app\x1b[0m$ '
const output = [
  `${prompt}ls --color`,
  'build.js  \x1b[1;34mnode_modules\x1b[0m  package.json  server.js  \x1b[1;36mlatest\x1b[0m -> server.js',
  `${prompt}npm test`,
  '',
  '\x1b[32m✓\x1b[0m sells a wooden dinghy \x1b[90m(12 ms)\x1b[0m',
  '\x1b[31m✗ refuses a card that has expired\x1b[0m',
  '\x1b[33mwarning\x1b[0m the tide table answers slowly, \x1b[35m3\x1b[0m of \x1b[36m4\x1b[0m requests took longer than a second, which is the limit of this line',
  '\x1b[7m 1 failed \x1b[0m 1 passed',
  prompt,
].join('\r\n')

/** A shell without an instance behind it, with the same output in every screenshot. */
async function withShell(page: Page, ...last: CommandServerMessage[]): Promise<void> {
  const command = { id: 'cmd_1', service: null, deployment_id: 'dep_1', ticket: 'ticket', expires_at: new Date(Date.now() + 30_000).toISOString() }
  await page.route('**/instance/projects/*/commands', (route) => route.fulfill({ status: 201, json: { command } }))
  await page.routeWebSocket(`**${commandSocketPath}`, (socket: WebSocketRoute) => {
    socket.onMessage(() => {})
    const send = (message: CommandServerMessage) => socket.send(JSON.stringify(message))
    send({ type: 'started' })
    socket.send(Buffer.from(encodeData('output', new TextEncoder().encode(output))))
    for (const message of last) send(message)
  })
}

async function openShell(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Open shell' }).click()
  await page.getByTestId('terminal-screen').getByText('1 passed').first().waitFor()
}

export const terminalScreens: Screen[] = [
  { name: 'terminal', path },
  { name: 'terminal-not-live', path: 'projects/lighthouse/terminal' },
  { name: 'terminal-remote', path: 'on/rem_berth/projects/harbour-shop/terminal?service=worker', before: withFakeRemote },
  { name: 'terminal-open', path, alters_page: true, before: (page) => withShell(page), act: openShell },
  {
    name: 'terminal-exited',
    path: `${path}?service=a-worker-with-a-rather-long-name&branch=feature/checkout`,
    alters_page: true,
    before: (page) => withShell(page, { type: 'exited', code: 137, signal: 'SIGKILL', out_of_memory: true }),
    async act(page) {
      await openShell(page)
      await page.getByText('Exit code 137').waitFor()
    },
  },
  {
    name: 'terminal-ended',
    path,
    alters_page: true,
    before: (page) => withShell(page, { type: 'ended', reason: 'access_lost' }),
    async act(page) {
      await openShell(page)
      await page.getByText('Your access to this project has ended').waitFor()
    },
  },
  {
    name: 'terminal-refused',
    path,
    alters_page: true,
    before: (page) =>
      page.route('**/instance/projects/*/commands', (route) =>
        route.fulfill({
          status: 409,
          json: {
            error: 'too_many_commands',
            message: '10 one-off commands are already running. End one of them, then try again.',
            request_id: 'req_1',
          },
        }),
      ),
    async act(page) {
      await page.getByRole('button', { name: 'Open shell' }).click()
      await page.getByRole('alert').waitFor()
    },
  },
]
