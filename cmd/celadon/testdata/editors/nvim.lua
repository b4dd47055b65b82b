-- Neovim without a window, as docs/editors.md sets it up: opens crd.yaml, shows
-- diagnostics, hover and completion, and applies a code action.
local function say(what, text) io.stdout:write(what .. ": " .. text .. "\n") end
local function wait(what, test)
  assert(vim.wait(60000, test, 50), what .. " does not come")
end

dofile("settings.lua")
vim.cmd("edit crd.yaml")
vim.bo.filetype = "yaml"
wait("a diagnostic", function() return #vim.diagnostic.get(0) > 0 end)
local diagnostic = vim.diagnostic.get(0)[1]
say("diagnostic", vim.split(diagnostic.message, "\n")[1])

local function at(pattern)
  vim.fn.cursor(1, 1)
  vim.fn.search(pattern, "e")
  vim.cmd("normal! l")
  return vim.lsp.util.make_position_params(0, "utf-16")
end
local function ask(method, params)
  for _, answer in pairs(assert(vim.lsp.buf_request_sync(0, method, params, 60000))) do
    return answer.result
  end
end

local found = "none"
for _, item in ipairs(ask("textDocument/completion", at("rule: self\\.")).items) do
  if item.label == "size" then found = "size" end
end
say("completion", found)
local place = at("rule: self\\.")
local actions = ask("textDocument/codeAction", {
  textDocument = place.textDocument,
  range = { start = place.position, ["end"] = place.position },
  context = { diagnostics = {} },
})
vim.lsp.util.apply_workspace_edit(actions[1].edit, "utf-16")
say("action", vim.fn.getline(vim.fn.search("rule: ", "cw")):gsub(".*rule: ", ""))
wait("the end of the diagnostic", function() return #vim.diagnostic.get(0) == 0 end)
say("hover", vim.split(ask("textDocument/hover", at("rule: self\\.")).contents.value, "\n")[1])
say("end", "ok")
vim.lsp.stop_client(vim.lsp.get_active_clients(), true)
vim.cmd("qall!")
