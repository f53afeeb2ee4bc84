import { createTransport } from 'nodemailer'
import { describe, expect, test } from 'vitest'
import type { MailMessage } from '../../server/contract/mail.ts'
import type { PlannedSource } from '../../server/contract/source-plans.ts'
import { fullTest } from '../support/full-test.ts'
import { checkRepository, commitToBranch, createGit, waitForPreview } from '../support/git-branches.ts'
import { useSharedDeploymentContext } from './deployment-suite.ts'
import { printsVariables } from './declared-services-suite.ts'

describe('managed services of homeport.yaml', () => {
  const context = useSharedDeploymentContext('process')
  const api = <T = Record<string, unknown>>(method: 'GET' | 'POST' | 'PATCH' | 'DELETE', path: string, body?: object) =>
    context.platform.api<T>(method, path, body)
  const variables = async (host: string) => JSON.parse((await context.platform.fetchEdge(host)).body) as Record<string, string | undefined>
  const plan = async (slug: string) => (await api<{ plan: PlannedSource }>('POST', `/instance/projects/${slug}/plan`, {})).body.plan
  const hasDatabase = async (slug: string) => (await api('GET', `/v1/projects/${slug}/database`)).status === 200
  const hasMail = async (slug: string) =>
    (await api<{ catcher: { is_enabled: boolean } }>('GET', `/instance/projects/${slug}/mail`)).body.catcher.is_enabled

  test('a deployment adds the database and the mail catcher before the build, and a line that goes keeps both', async () => {
    const repository = await context.projectWith('brought', {
      ...printsVariables,
      'package.json': JSON.stringify({
        name: 'prints',
        private: true,
        scripts: { build: `node -e "console.log('database for the build:', 'DATABASE_URL' in process.env)"`, start: 'node server.js' },
      }),
      'homeport.yaml': 'managed: [postgres, mail]\n',
    })
    expect((await plan('brought')).managed).toMatchObject([
      { name: 'postgres', is_listed: true, is_added: false, origin: 'homeport.yaml line 1' },
      { name: 'mail', is_listed: true, is_added: false },
    ])
    expect(await hasDatabase('brought')).toBe(false)

    const deployed = await context.deployReady('brought')
    expect(deployed.build_log).toContain('Added PostgreSQL to the project, because homeport.yaml lists postgres under managed.')
    expect(deployed.build_log).toContain('Added Mail catcher to the project')
    expect(deployed.build_log).toContain('database for the build: true')
    const env = await variables('brought.localhost')
    const { database } = (await api<{ database: { password: string } }>('GET', '/v1/projects/brought/database')).body
    expect(env.DATABASE_URL).toContain(database.password)
    for (const secret of [database.password, env.SMTP_PASSWORD ?? '-']) expect(deployed.build_log).not.toContain(secret)
    await createTransport(env.SMTP_URL).sendMail({ from: 'app@example.com', to: 'ada@example.com', subject: 'From the file', text: 'hi' })
    const { messages } = (await api<{ messages: MailMessage[] }>('GET', '/instance/projects/brought/mail')).body
    expect(messages.map(({ subject }) => subject)).toEqual(['From the file'])

    // The same file again changes nothing, and a file without the line removes nothing.
    expect((await context.deployReady('brought')).build_log).not.toContain('Added ')
    expect((await plan('brought')).managed.map(({ is_added }) => is_added)).toEqual([true, true])
    repository.commit({ 'homeport.yaml': 'managed: [mail]\n' })
    expect((await plan('brought')).managed).toMatchObject([
      { name: 'postgres', is_listed: false, is_added: true },
      { name: 'mail', is_listed: true },
    ])
    expect((await context.deployReady('brought')).build_log).toContain(
      'The project has postgres, which homeport.yaml does not list under managed. It is kept. Remove it with homeport db drop brought --yes',
    )
    expect(await variables('brought.localhost')).toMatchObject({ DATABASE_URL: env.DATABASE_URL })
  })

  fullTest('a preview adds nothing to the project, so that production goes on sending its mail', async () => {
    const repository = context.createRepository(printsVariables)
    await context.platform.createProject({ slug: 'branched', repo_url: repository.url })
    await context.deployReady('branched')
    await checkRepository(context.platform, 'branched')
    const sha = commitToBranch(repository.folder, 'letters', { 'homeport.yaml': 'managed: [postgres, mail]\n' })
    await checkRepository(context.platform, 'branched')
    const preview = await waitForPreview(context.platform, 'branched', 'letters', sha)
    expect(await variables(preview.host)).not.toHaveProperty('SMTP_URL')
    const { build_log } = (await api<{ deployment: { build_log: string } }>('GET', `/v1/projects/branched/deployments/${preview.deployment_id}`)).body
      .deployment
    expect(build_log).toContain('Mail catcher is not added by a preview.')
    expect([await hasMail('branched'), await hasDatabase('branched')]).toEqual([false, false])
  })

  fullTest('what is removed stays away until the next deployment of the source', async () => {
    await context.projectWith('removed', { ...printsVariables, 'homeport.yaml': 'managed: [mail]\n' })
    await context.deployReady('removed')
    const { deployment_id } = (await api<{ deployment_id: string }>('PATCH', '/instance/projects/removed/mail', { is_enabled: false })).body
    const redeployed = await context.platform.waitForEnd('removed', deployment_id)
    expect(redeployed).toMatchObject({ status: 'ready', trigger: 'env_change' })
    expect(redeployed.build_log).toContain('Mail catcher is not in the project, although homeport.yaml lists mail under managed.')
    expect([await hasMail('removed'), (await variables('removed.localhost')).SMTP_URL]).toEqual([false, undefined])
    await context.deployReady('removed')
    expect(await hasMail('removed')).toBe(true)
  })

  test('what needs a container is refused in one sentence, and adds nothing', async () => {
    await context.projectWith('contained', { ...printsVariables, 'homeport.yaml': 'managed: [mail, redis]\n' })
    expect(await context.deployAndWait('contained')).toMatchObject({
      status: 'failed',
      error: {
        code: 'detect_failed',
        message: 'homeport.yaml lists redis under managed, which needs Docker, and this project is deployed without it.',
      },
    })
    expect(await hasMail('contained')).toBe(false)
  })

  test('a pull request of a stranger adds nothing either', async () => {
    const repository = context.createRepository(printsVariables)
    await context.platform.createProject({ slug: 'pulled', repo_url: repository.url })
    await context.deployReady('pulled')
    await api('PATCH', '/instance/projects/pulled/watching', { pull_requests: true })
    await checkRepository(context.platform, 'pulled')
    const sha = commitToBranch(repository.folder, 'stranger', { 'homeport.yaml': 'managed: [postgres, mail]\n' })
    const git = createGit(repository.folder)
    git('update-ref', 'refs/pull/7/head', sha)
    git('update-ref', '-d', 'refs/heads/stranger')
    await checkRepository(context.platform, 'pulled')
    const preview = await waitForPreview(context.platform, 'pulled', 'pull/7', sha)
    const env = await variables(preview.host)
    expect([env.DATABASE_URL, env.SMTP_URL]).toEqual([undefined, undefined])
    expect([await hasMail('pulled'), await hasDatabase('pulled')]).toEqual([false, false])
  })

  fullTest('a database that the account’s plan does not include is refused with the sentence of the API', async () => {
    await context.projectWith('unpaid', { ...printsVariables, 'homeport.yaml': 'managed: [postgres]\n' })
    await api('PATCH', '/instance/settings', { plan: 'starter', payment_method: false })
    const { message } = (await api<{ message: string }>('POST', '/v1/projects/unpaid/database')).body
    expect(await context.deployAndWait('unpaid')).toMatchObject({ status: 'failed', error: { code: 'detect_failed', message } })
    await api('PATCH', '/instance/settings', { plan: 'enterprise', payment_method: true })
    await context.deployReady('unpaid')
    expect(await hasDatabase('unpaid')).toBe(true)
  })
})
