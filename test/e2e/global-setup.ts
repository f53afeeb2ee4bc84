import { type Server, createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { FullConfig } from '@playwright/test'
import { buildChanged } from '../../server/cli/prepare.mjs'
import { type SeededPlatform, createSeededPlatform } from './seeded-platform.ts'
import { type SharedPlatformInfo, seededPlatformVariable } from './screen-navigation.ts'

/**
 * Runs once, in the runner's own process: builds the dashboard, and starts the one seeded platform of all screens, which workers request
 * over HTTP. A run of selected tests seeds it when a test requests it, any other run at once, in parallel with the stories.
 */
export default async function startSharedPlatform({ argv }: FullConfig): Promise<() => Promise<void>> {
  await buildChanged()
  let seeded: Promise<SeededPlatform> | undefined
  const describeSeededPlatform = async (): Promise<SharedPlatformInfo> => {
    const { platform, ids } = await (seeded ??= createSeededPlatform())
    return { instance: platform.handle.instance, dashboard_url: platform.handle.dashboard_url, ids }
  }
  const server = createServer((_request, response) => {
    void describeSeededPlatform().then(
      (value) => response.end(JSON.stringify(value)),
      (error: unknown) => response.writeHead(500).end(String(error)),
    )
  })
  await listen(server)
  process.env[seededPlatformVariable] = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  if (!argv.some((one) => /\.spec|^-g|^--grep(=|$)/.test(one))) void describeSeededPlatform().catch(() => undefined)
  return async () => {
    server.close()
    server.closeAllConnections()
    await (await seeded?.catch(() => undefined))?.remove()
  }
}

const listen = (server: Server) => new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
