import { type Server, createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { FullConfig } from '@playwright/test'
import { buildChanged } from '../../server/cli/prepare.mjs'
import { type Scene, setScene } from './scene.ts'
import { type SharedScene, sceneVariable } from './stage.ts'

/**
 * Runs once, in the runner's own process: builds the dashboard, and holds the one scene of all screens for the workers, who ask for
 * it by HTTP. A run that names what it runs begins with the scene when a test asks for it, any other one at once, beside the stories.
 */
export default async function setUp({ argv }: FullConfig): Promise<() => Promise<void>> {
  await buildChanged()
  let scene: Promise<Scene> | undefined
  const shared = async (): Promise<SharedScene> => {
    const { home, ids } = await (scene ??= setScene())
    return { instance: home.platform.instance, dashboard_url: home.platform.dashboard_url, ids }
  }
  const server = createServer((_request, response) => {
    void shared().then(
      (value) => response.end(JSON.stringify(value)),
      (error: unknown) => response.writeHead(500).end(String(error)),
    )
  })
  await listen(server)
  process.env[sceneVariable] = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  if (!argv.some((one) => /\.spec|^-g|^--grep(=|$)/.test(one))) void shared().catch(() => undefined)
  return async () => {
    server.close()
    server.closeAllConnections()
    await (await scene?.catch(() => undefined))?.remove()
  }
}

const listen = (server: Server) => new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
