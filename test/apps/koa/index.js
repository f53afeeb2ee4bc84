import Koa from 'koa'

const app = new Koa()

app.use((context) => {
  context.body = context.path === '/' ? 'Hello from Koa' : { path: context.path }
})

app.listen(process.env.PORT ?? 3000)
