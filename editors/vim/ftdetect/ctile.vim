au BufRead,BufNewFile *.tile set filetype=ctile
