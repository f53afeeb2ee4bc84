import { execFileSync } from 'node:child_process'
import type { TestPlatform } from './platform.ts'
import { runProgram } from './runtime.ts'

/** An app without a configuration file that answers, and shows its variables. */
export const plainAppFiles = {
  'package.json': JSON.stringify({ name: 'plain', private: true, scripts: { start: 'node server.js' } }),
  'server.js':
    "require('node:http').createServer((request, response) => response.end(request.url === '/env' ? JSON.stringify(process.env) : 'ok')).listen(process.env.PORT, process.env.HOST)",
}

/** What tests do with the managed services of a project. */
export const manageServices = (platform: TestPlatform, slug: string) => ({
  variables: async () => JSON.parse((await platform.fetchEdge(`${slug}.localhost`, '/env')).body) as Record<string, string | undefined>,
  /** Adds a managed service, and waits for the deployment. */
  async add(name: string) {
    const { body } = await platform.api<{ deployment_id: string | null }>('POST', `/instance/projects/${slug}/managed-services`, { name })
    if (body.deployment_id !== null) await platform.waitForEnd(slug, body.deployment_id)
  },
  /** The output of a script in the container of a service; `input` is its standard input. */
  async run(service: string, script: string, input?: string): Promise<string> {
    const { id } = await platform.getProject(slug)
    const filters = ['--filter', `label=homeport.service=${service}`, '--filter', `label=homeport.project=${id}`]
    const container = (await runProgram('docker', ['ps', '-q', ...filters])).trim()
    return execFileSync('docker', ['exec', '-i', container, 'sh', '-c', script], { encoding: 'utf8', input: input ?? '' })
  },
})

/** A script for `run` that passes its standard input to MariaDB as SQL, as the role of the app. */
export const mariadbScript =
  'MYSQL_PWD="$MARIADB_PASSWORD" mariadb --host=127.0.0.1 --user=app --skip-column-names --default-character-set=utf8mb4 app'
