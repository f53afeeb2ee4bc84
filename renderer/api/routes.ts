import type { OperationId, Operations } from '../../server/contract/index.ts'

/**
 * Method and path of every operation that the dashboard calls. Written out, because the contract itself brings the
 * schema library along, which has no place in the first screen; the compiler holds each line against the contract.
 */
export const routes = {
  createProject: 'POST /v1/projects',
  listProjects: 'GET /v1/projects',
  getProject: 'GET /v1/projects/{slug}',
  updateProject: 'PATCH /v1/projects/{slug}',
  deleteProject: 'DELETE /v1/projects/{slug}',
  stopProject: 'POST /v1/projects/{slug}/stop',
  deployProject: 'POST /v1/projects/{slug}/deploy',
  listDeployments: 'GET /v1/projects/{slug}/deployments',
  getDeployment: 'GET /v1/projects/{slug}/deployments/{id}',
  retryDeployment: 'POST /v1/projects/{slug}/deployments/{id}/retry',
  cancelDeployment: 'POST /v1/projects/{slug}/deployments/{id}/cancel',
  rollbackDeployment: 'POST /v1/projects/{slug}/deployments/{id}/rollback',
  streamBuildLog: 'GET /v1/projects/{slug}/deployments/{id}/logs',
  streamRuntimeLog: 'GET /v1/projects/{slug}/runtime-logs',
  getMetrics: 'GET /v1/projects/{slug}/metrics',
  listEnvVars: 'GET /v1/projects/{slug}/env-vars',
  createEnvVars: 'POST /v1/projects/{slug}/env-vars',
  updateEnvVar: 'PATCH /v1/projects/{slug}/env-vars/{id}',
  deleteEnvVar: 'DELETE /v1/projects/{slug}/env-vars/{id}',
  listSparklines: 'GET /instance/sparklines',
  createPurgeToken: 'POST /v1/projects/{slug}/cache/token',
  purgeAll: 'POST /v1/projects/{slug}/cache/purge-all',
  purgeTags: 'POST /v1/projects/{slug}/cache/purge-tags',
  listCacheEvents: 'GET /v1/projects/{slug}/cache/log',
  purgeUrls: 'POST /instance/projects/{slug}/cache/purge-urls',
  inspectCache: 'POST /instance/projects/{slug}/cache/inspect',
  getSession: 'GET /instance/session',
  followInstance: 'GET /instance/events',
  deployFolder: 'POST /instance/deploy-folder',
  doctor: 'GET /instance/doctor',
  getSettings: 'GET /instance/settings',
  updateSettings: 'PATCH /instance/settings',
  getHttps: 'GET /instance/https',
  trustAuthority: 'POST /instance/https/trust',
  removeAuthority: 'DELETE /instance/https/trust',
  getHostsFile: 'GET /instance/hosts-file',
  getLan: 'GET /instance/lan',
  setOwnerPassword: 'POST /instance/password',
  signOut: 'POST /instance/sign-out',
  listUsers: 'GET /instance/users',
  addUser: 'POST /instance/users',
  verifyUser: 'POST /instance/users/{email}/verify',
  removeUser: 'DELETE /instance/users/{email}',
  addTeamMember: 'POST /instance/team',
} as const satisfies { [Id in OperationId]?: `${Operations[Id]['method']} ${Operations[Id]['path']}` }

export type RouteId = keyof typeof routes
