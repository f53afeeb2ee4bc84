import type { OperationHandlers } from './context.ts'
import type { FeatureDeps } from './deps.ts'

type BackupHandlers = Pick<OperationHandlers, 'listBackups' | 'createBackup' | 'downloadBackup' | 'deleteBackup'>

export function createBackupHandlers({ backups }: Pick<FeatureDeps, 'backups'>): BackupHandlers {
  return {
    listBackups: async () => ({ backups: await backups.list(), recovered: await backups.readRecovery() }),
    createBackup: async () => backups.create(),
    downloadBackup: async (_context, { params }) => backups.read(params.name),
    deleteBackup: async (_context, { params }) => backups.remove(params.name),
  }
}
