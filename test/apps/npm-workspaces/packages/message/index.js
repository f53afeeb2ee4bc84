export const message = 'Hello from npm workspaces'
