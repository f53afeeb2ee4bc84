import type { RuntimeName } from '../contract/deployments.ts'
import { type DatabaseServer, DatabaseUnavailable } from './database.ts'

/** The servers by name. Making them opens nothing and starts nothing. */
export function createDatabaseServers(): Record<RuntimeName, DatabaseServer> {
  return { docker: absent('docker'), process: absent('process') }
}

function absent(name: RuntimeName): DatabaseServer {
  const refuse = () => {
    throw new DatabaseUnavailable('This version has no database server here.', 'Use a later version.')
  }
  return {
    name,
    create: async () => refuse(),
    drop: async () => {},
    look: async () => refuse(),
    address: async () => refuse(),
    dump: refuse,
    restore: async () => refuse(),
    forget: async () => {},
    state: async () => ({ running: false, version: null, message: 'There is none.' }),
    close: async () => {},
  }
}
