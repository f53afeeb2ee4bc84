import type { NotificationRules } from './notifications.ts'

export const notificationTargetTypes = ['email', 'webhook', 'slack'] as const

export const defaultNotificationRules: NotificationRules = {
  deployment_failed: true,
  deployment_ready: false,
  app_crashed: true,
  error_rate: null,
  disk: false,
  certificate: false,
}
