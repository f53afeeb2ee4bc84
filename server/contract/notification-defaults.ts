export const notificationTargetTypes = ['email', 'webhook', 'slack'] as const

/** The rules of a new target. */
export const defaultNotificationRules = {
  deployment_failed: true,
  deployment_ready: false,
  app_crashed: true,
  error_rate: null,
  disk: false,
  certificate: false,
}
